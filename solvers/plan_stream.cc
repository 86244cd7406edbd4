#include "solvers/plan_stream.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace stowage {
namespace {

using Job = std::packaged_task<PlannedStep()>;

// Jobs wait here for a thread.
class JobQueue {
 public:
  void push(Job job) {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
    changed_.notify_one();
  }

  // The next job; nothing once the queue is closed.
  std::optional<Job> pop() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return closed_ || !jobs_.empty(); });
    if (closed_) return std::nullopt;
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    return job;
  }

  // Throws away the jobs that no thread has begun.
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    jobs_.clear();
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  bool closed_ = false;
};

// Threads that work on the queue, which is closed before they are waited for.
class Workers {
 public:
  Workers(JobQueue& queue, int threads) : queue_(queue) {
    try {
      for (int i = 0; i < threads; ++i) {
        threads_.emplace_back([&queue] {
          while (std::optional<Job> job = queue.pop()) (*job)();
        });
      }
    } catch (const std::system_error&) {
      // No more threads to be had: fewer give the same answer.
    }
  }
  bool none() const { return threads_.empty(); }
  ~Workers() { queue_.close(); }  // the threads join after it, one by one
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

 private:
  JobQueue& queue_;
  std::vector<std::jthread> threads_;
};

PlannedStep planned(StreamStep step, const SolveOptions& options, const Budget::Limits& limits) {
  Budget budget(limits);
  Outcome outcome = solve(step.instance, options, budget);
  return {step.index, std::move(step.instance), std::move(outcome)};
}

}  // namespace

void plan_stream(const std::function<std::optional<StreamStep>()>& next,
                 const SolveOptions& options, const Budget::Limits& limits, int threads,
                 const std::function<bool(PlannedStep&&)>& take) {
  const auto ahead = static_cast<std::size_t>(threads) * 2;
  JobQueue queue;
  std::deque<std::future<PlannedStep>> under_way;
  const Workers workers(queue, threads);
  for (bool more = true;;) {
    while (more && under_way.size() < ahead) {
      std::optional<StreamStep> step = next();
      more = step.has_value();
      if (!more) break;
      Job job([step = *std::move(step), &options, &limits]() mutable {
        return planned(std::move(step), options, limits);
      });
      under_way.push_back(job.get_future());
      queue.push(std::move(job));
    }
    if (under_way.empty()) return;
    if (workers.none()) (*queue.pop())();  // the oldest job, which is the one that is waited for
    PlannedStep step = under_way.front().get();
    under_way.pop_front();
    if (!take(std::move(step))) return;
  }
}

}  // namespace stowage
