// Limits of the work of one solve: wall-clock time, nodes, and the user's wish to stop.
//
// All parts of one solve share a Budget. Long loops call `exhausted()`. The caller that made the
// Budget reads `stop_reason()` to learn why the work ended. A wall-clock limit makes a result
// depend on the machine. Node limits do not, so tests and reproducible runs use nodes. A benchmark
// limits CPU time instead, so that other programs on the machine do not shorten the searches that
// it compares.
//
//   Budget budget({.time_limit_s = 2.0});
//   while (!budget.exhausted()) improve();
//   Budget step = budget.part(0.5, 1000);  // at most half a second and 1000 nodes
//
// Thread safety: threads may share a Budget and call it at once, part() included; its limits never
// change.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>

namespace stowage {

// The unit of time: seconds of wall clock, CPU seconds of all threads of this process, or millions
// of readings of the clock (`looks`). With `looks` the same work always ends at the same place,
// also inside a linear programme, so that tests can stop it at any moment.
enum class BudgetClock { wall, cpu, looks };

enum class StopReason { none, time_limit, node_limit, interrupted };

class Budget {
 public:
  struct Limits {
    double time_limit_s = std::numeric_limits<double>::infinity();  // 0 is a limit
    std::int64_t node_limit = std::numeric_limits<std::int64_t>::max();
    const std::atomic<bool>* interrupt = nullptr;  // set by a signal handler; must outlive us
    BudgetClock clock = BudgetClock::wall;
  };

  Budget() : Budget(Limits{}) {}
  explicit Budget(const Limits& limits) : Budget(limits, nullptr) {}
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;

  double seconds() const { return now() - start_; }
  double seconds_left() const { return limits_.time_limit_s - seconds(); }
  std::int64_t nodes() const { return nodes_.load(std::memory_order_relaxed); }
  std::int64_t nodes_left() const { return limits_.node_limit - nodes(); }
  void count_nodes(std::int64_t n) {
    nodes_.fetch_add(n, std::memory_order_relaxed);
    if (whole_ != nullptr) whole_->count_nodes(n);
  }

  // Returns a budget of at most `seconds` and `nodes`, and of at most the rest of this budget. The
  // interrupt of this budget stops the part too, and the nodes of the part count here as well. This
  // budget must outlive the part.
  Budget part(double seconds, std::int64_t nodes);

  StopReason stop_reason() const {
    if (limits_.interrupt != nullptr && limits_.interrupt->load(std::memory_order_relaxed)) {
      return StopReason::interrupted;
    }
    // Without a time limit the clock is not read: reading the CPU clock takes a microsecond.
    if (limits_.time_limit_s < std::numeric_limits<double>::infinity() && seconds_left() <= 0) {
      return StopReason::time_limit;
    }
    if (nodes_left() <= 0) return StopReason::node_limit;
    return StopReason::none;
  }
  bool exhausted() const { return stop_reason() != StopReason::none; }

  const Limits& limits() const { return limits_; }

 private:
  Budget(const Limits& limits, Budget* whole) : limits_(limits), whole_(whole), start_(now()) {}

  double now() const;  // in the source, so that this header does not include <chrono>

  Limits limits_;
  Budget* whole_;  // the budget that this one is a part of, or null
  mutable std::atomic<std::int64_t> looks_{0};
  double start_;
  std::atomic<std::int64_t> nodes_{0};
};

}  // namespace stowage
