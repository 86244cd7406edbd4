// Large-neighbourhood search on an order: searches stretches again around the steps with the
// largest needs.
//
//   Windows windows(table);
//   windows.improve(order, {.goal = bound, .states = 1000}, budget);
//
// Thread safety: an object belongs to one thread.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "heuristics/order/commit_search.h"
#include "heuristics/order/params.h"
#include "instances/budget.h"
#include "instances/order/planning_table.h"

namespace stowage {

class OrderLns {
 public:
  struct Effort {
    Bytes goal = 0;  // a peak at which the search stops
    // limit of states of one stretch's search, from one end to the next commit
    std::int64_t states = 1000;
    int widest = 128;  // longest stretch, in steps
    // Limit of states of all stretches together, after which no further stretch is searched.
    std::int64_t all_states = std::numeric_limits<std::int64_t>::max();
  };

  explicit OrderLns(const OrderTable& table, const StretchParams& params = {})
      : table_(table), narrowest_(params.narrowest), search_(table) {}

  // Searches stretches around the first step at the peak for an order below the peak. Each stretch
  // is twice as long as the one before. Stops if no stretch has such an order within the limits.
  // After each order found, fewer steps are at the peak, or the peak is lower. Returns the number
  // of states visited.
  std::int64_t improve(std::vector<int>& order, const Effort& effort, const Budget& budget);

 private:
  const OrderTable& table_;
  const int narrowest_;  // shortest stretch, in steps
  CommitSearch search_;
};

}  // namespace stowage
