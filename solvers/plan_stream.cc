#include "solvers/plan_stream.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <future>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace stowage {
namespace {

using Job = std::packaged_task<PlannedStep()>;

// The queue of jobs that wait for a thread.
class JobQueue {
 public:
  void push(Job job) {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
    changed_.notify_one();
  }

  // Waits for the next job and returns it, or nullopt if the queue is closed.
  std::optional<Job> pop() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return closed_ || !jobs_.empty(); });
    if (closed_) return std::nullopt;
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    return job;
  }

  // Drops the jobs that no thread has begun.
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

// The threads that work on the queue. The destructor closes the queue and then joins them.
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
      // No more threads can be started. Fewer threads give the same result.
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

// The steps being planned, in order. One thread adds steps, another thread removes them.
class Line {
 public:
  explicit Line(std::size_t room) : room_(room) {}

  // Returns false if the taking thread has left.
  bool wait_for_room() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return left_ || steps_.size() < room_; });
    return !left_;
  }
  void push(std::future<PlannedStep> step) {
    const std::lock_guard lock(mutex_);
    steps_.push_back(std::move(step));
    changed_.notify_all();
  }
  // Ends the line: no more steps follow.
  void end() {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }

  // Returns the first step, or null at the end. The step stays in the line until drop().
  std::future<PlannedStep>* front() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return ended_ || !steps_.empty(); });
    return steps_.empty() ? nullptr : &steps_.front();
  }
  void drop() {
    const std::lock_guard lock(mutex_);
    steps_.pop_front();
    changed_.notify_all();
  }
  void leave() {
    const std::lock_guard lock(mutex_);
    left_ = true;
    changed_.notify_all();
  }

 private:
  const std::size_t room_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::future<PlannedStep>> steps_;
  bool ended_ = false;
  bool left_ = false;
};

using Next = FunctionRef<std::optional<StreamStep>()>;
using Take = FunctionRef<bool(PlannedStep&&)>;

// Calls `take` with the steps of the line. An exception is kept for the calling thread.
class Taker {
 public:
  Taker(Line& line, Take take) : line_(line) {
    thread_ = std::jthread([this, take] { work(take); });
  }
  // Waits until the last step of an ended line is taken.
  void finish() {
    thread_.join();
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  void work(Take take) {
    try {
      while (std::future<PlannedStep>* step = line_.front()) {
        if (!take(step->get())) break;
        line_.drop();
      }
    } catch (...) {
      failure_ = std::current_exception();
    }
    line_.leave();
  }

  Line& line_;
  std::exception_ptr failure_;
  std::jthread thread_;
};

PlannedStep planned(StreamStep step, const SolveOptions& options, const Budget::Limits& limits) {
  if (step.outcome) return {step.index, std::move(step.instance), *std::move(step.outcome)};
  Budget budget(limits);
  Outcome outcome = solve(step.instance, options, budget);
  return {step.index, std::move(step.instance), std::move(outcome)};
}

// Does the work of plan_stream() on other threads. Returns false before the first call of `next` if
// no thread can be started.
bool plan_beside(Next next, const SolveOptions& options, const Budget::Limits& limits, int threads,
                 Take take) {
  JobQueue queue;
  Line line(static_cast<std::size_t>(threads) * 2);
  const Workers workers(queue, threads);
  if (workers.none()) return false;
  std::optional<Taker> taker;
  try {
    taker.emplace(line, take);
  } catch (const std::system_error&) {
    return false;
  }
  std::exception_ptr failure;
  try {
    while (line.wait_for_room()) {
      std::optional<StreamStep> step = next();
      if (!step) break;
      Job job([step = *std::move(step), &options, &limits]() mutable {
        return planned(std::move(step), options, limits);
      });
      line.push(job.get_future());
      queue.push(std::move(job));
    }
  } catch (...) {
    failure = std::current_exception();
  }
  line.end();  // steps before a failure are handed out
  taker->finish();
  if (failure) std::rethrow_exception(failure);
  return true;
}

}  // namespace

void plan_stream(Next next, const SolveOptions& options, const Budget::Limits& limits, int threads,
                 Take take) {
  if (plan_beside(next, options, limits, threads, take)) return;
  while (std::optional<StreamStep> step = next()) {
    if (!take(planned(*std::move(step), options, limits))) return;
  }
}

}  // namespace stowage
