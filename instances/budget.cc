#include "instances/budget.h"

#include <algorithm>
#include <chrono>
#include <ctime>

namespace stowage {

Budget Budget::part(double seconds, std::int64_t nodes) {
  return Budget({.time_limit_s = std::min(seconds, seconds_left()),
                 .node_limit = std::min(nodes, nodes_left()),
                 .interrupt = limits_.interrupt,
                 .clock = limits_.clock},
                this);
}

double Budget::now() const {
  switch (limits_.clock) {
    case BudgetClock::looks:
      return 1e-6 * static_cast<double>(looks_.fetch_add(1, std::memory_order_relaxed));
    case BudgetClock::cpu:
      return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
    case BudgetClock::wall:
      break;
  }
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(since).count();
}

}  // namespace stowage
