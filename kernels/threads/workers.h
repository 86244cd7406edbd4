// Threads that share the work of the thread that made them.
//
//   Workers workers(4);                // this thread and three others
//   const WorkersScope scope(workers);
//   gemm(...);                         // runs on four threads
//
// A kernel divides its work into units that write different elements, or add to them in a fixed
// order, and hands them to share_work(). So its result has the same bits for any number of threads.
// A thread without workers runs the units one after the other, and so does a worker that shares
// work.
//
// Thread safety: one thread at a time may use a Workers object, inside one WorkersScope.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

namespace stowage::kernels {

class Workers {
 public:
  // `thread` is from 0 to threads() - 1; 0 is the thread that called share().
  using Work = std::function<void(std::int64_t unit, int thread)>;

  // Starts threads - 1 threads, or fewer where the system refuses more. Throws
  // std::invalid_argument if `threads` is below 1.
  explicit Workers(int threads);
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  ~Workers();

  int threads() const { return threads_; }

  // Calls work(unit, thread) once for every unit in [0, units), and returns when all are done.
  // Units are begun in ascending order. Throws the first exception of a unit, whose thread then
  // begins no further ones.
  void share(std::int64_t units, const Work& work);

  // Returns memory of at least `floats` floats, which belongs to a thread until its next call.
  std::span<float> scratch(int thread, std::int64_t floats);

  // Returns the CPU seconds by which the busiest thread of every share() was ahead of the calling
  // thread, added up. With the calling thread's own CPU time they are the time on idle cores.
  double ahead_seconds() const { return ahead_seconds_; }

  // Returns the workers of the calling thread; null without a WorkersScope, inside a unit, and
  // where the workers are the calling thread alone.
  static Workers* of_this_thread();

 private:
  friend class WorkersScope;
  void serve(int thread);
  void run_units(int thread);

  int threads_ = 1;
  std::mutex mutex_;
  std::condition_variable begun_, ended_;
  std::uint64_t shared_ = 0;  // calls of share()
  int busy_ = 0;              // other threads that have yet to end the current call
  bool over_ = false;
  const Work* work_ = nullptr;
  std::int64_t units_ = 0, next_ = 0;
  std::exception_ptr failure_;
  std::vector<double> cpu_seconds_;  // by thread, of the current call
  double ahead_seconds_ = 0;
  std::vector<std::vector<float>> scratch_;  // by thread
  std::vector<std::jthread> others_;         // the last member, so that it ends first
};

// Makes workers those of the calling thread.
class WorkersScope {
 public:
  explicit WorkersScope(Workers& workers);
  WorkersScope(const WorkersScope&) = delete;
  WorkersScope& operator=(const WorkersScope&) = delete;
  ~WorkersScope();

 private:
  Workers* before_;
};

// Runs units on the workers of the calling thread, if it has any.
void share_work(std::int64_t units, const Workers::Work& work);

// Operations below which handing work to other threads takes longer than the work: about 20
// microseconds of multiply-adds, and a quarter of that in elements of memory.
inline constexpr double kSharedOperations = 1 << 20;
inline constexpr std::int64_t kSharedElements = 1 << 15;

// Calls work(begin, end) for ranges of rows that together are [0, rows), one for each thread. A
// range begins at a multiple of `step`.
template <class Work>
void share_rows(std::int64_t rows, std::int64_t elements_of_a_row, std::int64_t step, Work work) {
  const Workers* workers = Workers::of_this_thread();
  if (workers == nullptr || rows * elements_of_a_row < kSharedElements) {
    if (rows > 0) work(std::int64_t{0}, rows);
    return;
  }
  const std::int64_t each = (rows + workers->threads() - 1) / workers->threads();
  const std::int64_t part = (each + step - 1) / step * step;
  share_work((rows + part - 1) / part,
             [&](std::int64_t unit, int) { work(unit * part, std::min(rows, (unit + 1) * part)); });
}

}  // namespace stowage::kernels
