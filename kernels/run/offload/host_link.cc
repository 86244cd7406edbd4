#include "kernels/run/offload/host_link.h"

#include <algorithm>
#include <utility>

namespace stowage::kernels {

HostLink::~HostLink() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

HostLink::Ticket HostLink::start(double seconds, std::function<void()> copy) {
  const auto least = std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double>(std::max(seconds, 0.0)));
  Ticket ticket = 0;
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back({Clock::now(), least, std::move(copy)});
    ticket = started_++;
  }
  changed_.notify_all();
  return ticket;
}

double HostLink::wait(Ticket ticket) {
  std::unique_lock lock(mutex_);
  const Clock::time_point begin = Clock::now();
  const bool waits = done_ <= ticket;
  changed_.wait(lock, [&] { return done_ > ticket; });
  if (error_) std::rethrow_exception(error_);
  return waits ? std::chrono::duration<double>(Clock::now() - begin).count() : 0;
}

void HostLink::drain() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return done_ == started_; });
}

void HostLink::work() {
  Clock::time_point free_at = Clock::now();
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return closing_ || !queue_.empty(); });
    if (queue_.empty()) return;
    Copy copy = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    std::exception_ptr error;
    try {
      copy.run();
    } catch (...) {
      error = std::current_exception();
    }
    free_at = std::max(free_at, copy.requested) + copy.least;
    lock.lock();
    changed_.wait_until(lock, free_at, [&] { return closing_; });
    if (error && !error_) error_ = error;
    ++done_;
    changed_.notify_all();
  }
}

}  // namespace stowage::kernels
