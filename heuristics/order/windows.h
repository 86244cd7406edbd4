// Improves an order by searching stretches of it again, around the steps that need most.
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
#include "instances/order/table.h"

namespace stowage {

class Windows {
 public:
  struct Effort {
    Bytes goal = 0;              // a peak that is good enough
    std::int64_t states = 1000;  // of the search of one stretch, from one end to the next commit
    int widest = 128;            // steps of a stretch
    // Of all stretches together, after which no other is begun.
    std::int64_t all_states = std::numeric_limits<std::int64_t>::max();
  };

  explicit Windows(const OrderTable& table, const StretchParams& params = {})
      : table_(table), narrowest_(params.narrowest), search_(table) {}

  // Searches stretches around the first step at the peak for an order that needs less than the
  // peak. A stretch is twice as long as the one before, until every stretch has no such order or
  // costs too much. After each order found, fewer steps are at the peak, or the peak is lower.
  // Returns the number of states that were looked at.
  std::int64_t improve(std::vector<int>& order, const Effort& effort, const Budget& budget);

 private:
  const OrderTable& table_;
  const int narrowest_;  // steps of the shortest stretch
  CommitSearch search_;
};

}  // namespace stowage
