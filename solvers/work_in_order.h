// Work on a stream of items by several threads, whose results are handed out in the order of the
// items. The pattern of solvers/plan_stream.h for items and results of any type. Not installed.
//
//   work_in_order<StreamStep, PlannedStep>(next, plan, 4, take);
//
// Thread safety: as plan_stream().
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <future>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "solvers/function_ref.h"

namespace stowage {
namespace in_order {

// The queue of jobs that wait for a thread.
template <class Out>
class JobQueue {
 public:
  using Job = std::packaged_task<Out()>;

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
template <class Out>
class Workers {
 public:
  Workers(JobQueue<Out>& queue, int threads) : queue_(queue) {
    try {
      for (int i = 0; i < threads; ++i) {
        threads_.emplace_back([&queue] {
          while (auto job = queue.pop()) (*job)();
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
  JobQueue<Out>& queue_;
  std::vector<std::jthread> threads_;
};

// The work under way, in order. One thread adds results to come, another thread removes them.
template <class Out>
class Line {
 public:
  explicit Line(std::size_t room) : room_(room) {}

  // Returns false if the taking thread has left.
  bool wait_for_room() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return left_ || results_.size() < room_; });
    return !left_;
  }
  void push(std::future<Out> result) {
    const std::lock_guard lock(mutex_);
    results_.push_back(std::move(result));
    changed_.notify_all();
  }
  // Ends the line: no more results follow.
  void end() {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }

  // Returns the first result, or null at the end. It stays in the line until drop().
  std::future<Out>* front() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return ended_ || !results_.empty(); });
    return results_.empty() ? nullptr : &results_.front();
  }
  void drop() {
    const std::lock_guard lock(mutex_);
    results_.pop_front();
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
  std::deque<std::future<Out>> results_;
  bool ended_ = false;
  bool left_ = false;
};

// Calls `take` with the results of the line. An exception is kept for the calling thread.
template <class Out>
class Taker {
 public:
  Taker(Line<Out>& line, FunctionRef<bool(Out&&)> take) : line_(line) {
    thread_ = std::jthread([this, take] { work(take); });
  }
  // Waits until the last result of an ended line is taken.
  void finish() {
    thread_.join();
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  void work(FunctionRef<bool(Out&&)> take) {
    try {
      while (std::future<Out>* result = line_.front()) {
        if (!take(result->get())) break;
        line_.drop();
      }
    } catch (...) {
      failure_ = std::current_exception();
    }
    line_.leave();
  }

  Line<Out>& line_;
  std::exception_ptr failure_;
  std::jthread thread_;
};

// Does the work of work_in_order() on other threads. Returns false before the first call of `next`
// if no thread can be started.
template <class In, class Out>
bool work_beside(FunctionRef<std::optional<In>()> next, FunctionRef<Out(In&&)> work, int threads,
                 FunctionRef<bool(Out&&)> take) {
  JobQueue<Out> queue;
  Line<Out> line(static_cast<std::size_t>(threads) * 2);
  const Workers<Out> workers(queue, threads);
  if (workers.none()) return false;
  std::optional<Taker<Out>> taker;
  try {
    taker.emplace(line, take);
  } catch (const std::system_error&) {
    return false;
  }
  std::exception_ptr failure;
  try {
    while (line.wait_for_room()) {
      std::optional<In> item = next();
      if (!item) break;
      typename JobQueue<Out>::Job job(
          [item = *std::move(item), work]() mutable { return work(std::move(item)); });
      line.push(job.get_future());
      queue.push(std::move(job));
    }
  } catch (...) {
    failure = std::current_exception();
  }
  line.end();  // items before a failure are handed out
  taker->finish();
  if (failure) std::rethrow_exception(failure);
  return true;
}

}  // namespace in_order

// Calls `next` for items until it returns nullopt, `work` for each of them on one of `threads`
// threads, and `take` with the results in the order of the items. At most twice as many items as
// threads are in work or wait for their turn. Ends early if `take` returns false, and then drops
// the other items. `next` is called from the calling thread and `take` from one other thread. An
// exception of any of them ends the stream and is thrown again. If no thread can be started, the
// calling thread does all.
template <class In, class Out>
void work_in_order(FunctionRef<std::optional<In>()> next, FunctionRef<Out(In&&)> work, int threads,
                   FunctionRef<bool(Out&&)> take) {
  if (in_order::work_beside<In, Out>(next, work, threads, take)) return;
  while (std::optional<In> item = next()) {
    if (!take(work(*std::move(item)))) return;
  }
}

}  // namespace stowage
