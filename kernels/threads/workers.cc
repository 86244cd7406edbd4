#include "kernels/threads/workers.h"

#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include "kernels/threads/thread_clock.h"

namespace stowage::kernels {
namespace {

thread_local Workers* of_thread = nullptr;

}  // namespace

Workers::Workers(int threads) {
  if (threads < 1) {
    throw std::invalid_argument("Workers: threads must be at least 1, is " +
                                std::to_string(threads));
  }
  cpu_seconds_.resize(static_cast<std::size_t>(threads));
  scratch_.resize(static_cast<std::size_t>(threads));
  others_.reserve(static_cast<std::size_t>(threads));
  try {
    for (; threads_ < threads; ++threads_) {
      others_.emplace_back([this, thread = threads_] { serve(thread); });
    }
  } catch (const std::system_error&) {  // the results do not depend on the number of threads
  }
}

Workers::~Workers() {
  const std::lock_guard lock(mutex_);
  over_ = true;
  begun_.notify_all();
}

Workers* Workers::of_this_thread() { return of_thread; }

std::span<float> Workers::scratch(int thread, std::int64_t floats) {
  std::vector<float>& held = scratch_[static_cast<std::size_t>(thread)];
  if (std::ssize(held) < floats) held.resize(static_cast<std::size_t>(floats));
  return held;
}

void Workers::serve(int thread) {
  std::uint64_t served = 0;
  std::unique_lock lock(mutex_);
  while (true) {
    begun_.wait(lock, [&] { return over_ || shared_ != served; });
    if (over_) return;
    served = shared_;
    lock.unlock();
    run_units(thread);
    lock.lock();
    if (--busy_ == 0) ended_.notify_one();
  }
}

void Workers::run_units(int thread) {
  const double start = thread_cpu_seconds();
  while (true) {
    std::unique_lock lock(mutex_);
    if (next_ >= units_) break;
    const std::int64_t unit = next_++;
    lock.unlock();
    try {
      (*work_)(unit, thread);
    } catch (...) {
      lock.lock();
      if (!failure_) failure_ = std::current_exception();
      next_ = units_;
    }
  }
  cpu_seconds_[static_cast<std::size_t>(thread)] = thread_cpu_seconds() - start;
}

void Workers::share(std::int64_t units, const Work& work) {
  {
    const std::lock_guard lock(mutex_);
    work_ = &work;
    units_ = units;
    next_ = 0;
    busy_ = threads_ - 1;
    failure_ = nullptr;
    ++shared_;
  }
  begun_.notify_all();
  Workers* before = std::exchange(of_thread, nullptr);  // a unit's own work is not shared again
  run_units(0);
  of_thread = before;
  std::unique_lock lock(mutex_);
  ended_.wait(lock, [&] { return busy_ == 0; });
  ahead_seconds_ += *std::ranges::max_element(cpu_seconds_) - cpu_seconds_[0];
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

WorkersScope::WorkersScope(Workers& workers)
    : before_(std::exchange(of_thread, workers.threads() > 1 ? &workers : nullptr)) {}
WorkersScope::~WorkersScope() { of_thread = before_; }

void share_work(std::int64_t units, const Workers::Work& work) {
  Workers* workers = Workers::of_this_thread();
  if (workers != nullptr && units > 1) return workers->share(units, work);
  for (std::int64_t unit = 0; unit < units; ++unit) work(unit, 0);
}

}  // namespace stowage::kernels
