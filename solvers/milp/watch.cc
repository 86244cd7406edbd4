#include "solvers/milp/watch.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace stowage {
namespace {

// The interrupt is a flag without notification. It is noticed at most this late.
constexpr auto kLook = std::chrono::milliseconds(10);

// True if a thread of this process was left behind. The code that ends the process needs it.
std::atomic<bool> left_behind = false;

// The flag of the backend in this thread, set when the backend aborts. Null in all other threads.
thread_local std::atomic<bool>* aborted_here = nullptr;

// Blocks the thread of a backend that called abort() forever, so that the process can continue. In
// any other thread, ends the process as without this handler.
void park(int signal) {
  if (aborted_here == nullptr) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
    return;
  }
  aborted_here->store(true);
  for (;;) pause();
}

// All data that the backend's thread uses. It is shared with that thread, because a backend that
// never returns needs it while the caller continues.
class Watched {
 public:
  Watched(const MilpRun& run, const MilpTask& task)
      : run_(run),
        model_(task.model),
        params_(task.params),
        budget_({.time_limit_s = task.budget.seconds_left(),
                 .node_limit = task.budget.nodes_left(),
                 .interrupt = &stop_,
                 .clock = task.budget.limits().clock}),
        caller_(&task) {}

  // Runs in the backend's thread.
  void work() {
    const MilpObserver observer = [this](const MilpEvent& event) { pass_on(event); };
    std::optional<MilpResult> answer;
    std::exception_ptr failure;
    aborted_here = &aborted_;
    try {
      answer = run_({model_, params_, budget_, observer});
    } catch (...) {
      failure = std::current_exception();
    }
    aborted_here = nullptr;
    const std::lock_guard lock(mutex_);
    answer_ = std::move(answer);
    failure_ = failure;
    over_ = true;
    ended_.notify_one();
  }

  bool aborted() const { return aborted_; }

  // Runs in the caller's thread. Returns the answer, or nullopt if the backend was left behind.
  std::optional<MilpResult> wait() {
    std::unique_lock lock(mutex_);
    std::optional<Clock::time_point> late;
    while (!ended_.wait_for(lock, kLook, [this] { return over_; })) {
      count_nodes();
      if (aborted_) {
        caller_ = nullptr;
        return std::nullopt;
      }
      const StopReason reason = stop_reason();
      // A node limit does not limit the time of the last node.
      if (reason == StopReason::none || reason == StopReason::node_limit) continue;
      if (reason == StopReason::interrupted) stop_ = true;
      if (!late)
        late = Clock::now() + std::chrono::milliseconds(std::int64_t(1000 * kPatienceSeconds));
      if (Clock::now() < *late) continue;
      stop_ = true;
      caller_ = nullptr;
      return std::nullopt;
    }
    count_nodes();
    caller_ = nullptr;
    if (failure_) std::rethrow_exception(failure_);
    return std::move(answer_);
  }

 private:
  using Clock = std::chrono::steady_clock;

  void pass_on(const MilpEvent& event) {
    const std::lock_guard lock(mutex_);
    if (caller_ == nullptr) return;
    count_nodes();
    caller_->observer(event);
  }

  // Returns the stop reason of the caller's budget. This thread wakes up at random times, so it
  // must not use up a budget that counts clock readings. The backend has its own limit of readings.
  StopReason stop_reason() const {
    const Budget& budget = caller_->budget;
    if (budget.limits().clock != BudgetClock::looks) return budget.stop_reason();
    const std::atomic<bool>* const interrupt = budget.limits().interrupt;
    return interrupt != nullptr && interrupt->load() ? StopReason::interrupted : StopReason::none;
  }

  // Passes on the nodes that the backend has counted since the last call.
  void count_nodes() {
    const std::int64_t nodes = budget_.nodes();
    caller_->budget.count_nodes(nodes - counted_);
    counted_ = nodes;
  }

  const MilpRun run_;
  const milp::Model model_;
  const MilpParams params_;
  std::atomic<bool> stop_ = false;
  std::atomic<bool> aborted_ = false;
  Budget budget_;

  std::mutex mutex_;  // guards all members below
  std::condition_variable ended_;
  const MilpTask* caller_;  // null after the caller has continued
  std::int64_t counted_ = 0;
  bool over_ = false;
  std::optional<MilpResult> answer_;
  std::exception_ptr failure_;
};

}  // namespace

MilpResult run_watched(const MilpRun& run, const MilpTask& task) {
  const auto watched = std::make_shared<Watched>(run, task);
  std::thread thread([watched] { watched->work(); });
  std::optional<MilpResult> answer;
  try {
    answer = watched->wait();
  } catch (...) {  // the backend's own exception: the backend has ended
    thread.join();
    throw;
  }
  if (answer) {
    thread.join();
    return *std::move(answer);
  }
  left_behind = true;
  thread.detach();
  return {.status = MilpStatus::error,
          .detail = watched->aborted()
                        ? "the backend aborted: one of its assertions failed"
                        : "the backend went on long after its limits and was left behind"};
}

void on_own_thread(const std::function<void()>& work) {
  std::exception_ptr thrown;
  {
    std::jthread worker([&] {
      try {
        work();
      } catch (...) {
        thrown = std::current_exception();
      }
    });
  }
  if (thrown) std::rethrow_exception(thrown);
}

void survive_aborts() { std::signal(SIGABRT, park); }

bool backend_left_behind() { return left_behind; }

}  // namespace stowage
