#include "python/binding/interrupt.h"

#include <nanobind/nanobind.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

namespace nb = nanobind;

namespace stowage::python {
namespace {

constexpr auto kBetweenLooks = std::chrono::milliseconds(50);

// Runs the work on its own thread and keeps its exception.
class Worker {
 public:
  explicit Worker(const std::function<void()>& work)
      : thread_([this, &work] {
          try {
            work();
          } catch (...) {
            failure_ = std::current_exception();
          }
          const std::lock_guard lock(mutex_);
          ended_ = true;
          changed_.notify_one();
        }) {}

  // Returns whether the work ended before the next check for signals.
  bool ended() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kBetweenLooks, [this] { return ended_; });
  }

  void join() {
    thread_.join();
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
  std::exception_ptr failure_;
  std::thread thread_;  // last member, because the thread uses the others
};

// Runs the handlers of arrived signals. Returns an exception of a handler unless it is
// KeyboardInterrupt, otherwise null.
std::exception_ptr look_for_signals(Interrupt& interrupt) {
  if (PyErr_CheckSignals() == 0) return nullptr;
  interrupt.flag = true;
  nb::python_error raised;
  if (!raised.matches(PyExc_KeyboardInterrupt)) return std::make_exception_ptr(raised);
  ++interrupt.signals;
  return nullptr;
}

}  // namespace

void run_unlocked(Interrupt& interrupt, bool watch, const std::function<void()>& work) {
  std::optional<Worker> worker;
  if (watch) {
    try {
      worker.emplace(work);
    } catch (const std::system_error&) {  // the system has no thread left, so the work runs on this
                                          // thread
    }
  }
  if (!worker) {
    const nb::gil_scoped_release unlocked;
    work();
    return;
  }
  std::exception_ptr raised;
  for (bool ended = false; !ended;) {
    {
      const nb::gil_scoped_release unlocked;
      ended = worker->ended();
    }
    if (ended) break;
    if (auto other = look_for_signals(interrupt)) raised = other;
  }
  worker->join();
  if (raised) std::rethrow_exception(raised);
}

}  // namespace stowage::python
