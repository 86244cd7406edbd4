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

// The steps under way, in order. One thread puts them in, another takes them out.
class Line {
 public:
  explicit Line(std::size_t room) : room_(room) {}

  // False once nobody takes any more.
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
  // No step follows those that are in it.
  void end() {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }

  // The first step; null at the end. It keeps its place until it is dropped.
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

// Gives the steps of the line to `take`; what either throws is kept for the calling thread.
class Taker {
 public:
  Taker(Line& line, Take take) : line_(line) {
    thread_ = std::jthread([this, take] { work(take); });
  }
  // Waits for the last step of a line that has ended.
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

// As plan_stream, if there are threads to be had; false if not, before anything was asked for.
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
  line.end();  // those before a failure are handed out
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
