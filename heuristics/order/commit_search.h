// Finds an order of some operators within a capacity, or proves that no order fits.
//
// The search visits the sets of operators that can have run next, the set with least live memory
// first. It stops at a set with no more live memory than the start. Then the search commits: among
// the sets of least live memory between the two, the largest one is as good a start as any set
// [OC2]. A minimum cut finds this set. If no set is left, no order keeps the capacity, and the
// least need that exceeded the capacity is a bound [OB3]. The same holds backwards from the end.
// The search alternates between the two ends, and goes from each end as far as its limit of states
// allows.
//
//   CommitSearch search(table);
//   OrderMemory memory(table);
//   const CommitSearch::Found found = search.run(memory, all, capacity, 10'000, budget);
//   if (found.end == CommitSearch::End::found) use(found.steps);
//
// Thread safety: an object belongs to one thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heuristics/order/commit_graph.h"
#include "instances/budget.h"
#include "instances/order/memory/running_memory.h"
#include "instances/order/planning_table.h"

namespace stowage {

class CommitSearch {
 public:
  using End = CommitEnd;
  using Found = CommitFound;

  explicit CommitSearch(const OrderTable& table) : graph_(table) {}

  // Returns an order of `targets` within the capacity, or the proof that no order fits. `memory`
  // holds the operators that have run, and is the same afterwards. `targets` are listed in an order
  // that keeps all precedences; together with the operators that have run, they are a downset. Each
  // search from one end to the next commit visits at most `most_states` states. The result is
  // deterministic unless the budget ends the search.
  Found run(OrderMemory& memory, std::span<const int> targets, Bytes capacity,
            std::int64_t most_states, const Budget& budget);

 private:
  template <class Steps>
  Found walk(OrderMemory& memory, std::span<const int> targets, Bytes capacity,
             std::int64_t most_states, const Budget& budget);

  CommitGraph graph_;
};

}  // namespace stowage
