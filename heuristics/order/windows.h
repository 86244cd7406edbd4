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

  explicit Windows(const OrderTable& table) : table_(table), search_(table) {}

  // Searches stretches of 8 steps and more, twice as many each time, around the first step at the
  // peak, for an order that needs less than the peak, until every such stretch has none or costs
  // too much. Fewer steps are at the peak after each that was found, or the peak is lower. The
  // number of states that were looked at.
  std::int64_t improve(std::vector<int>& order, const Effort& effort, const Budget& budget);

 private:
  const OrderTable& table_;
  CommitSearch search_;
};

}  // namespace stowage
