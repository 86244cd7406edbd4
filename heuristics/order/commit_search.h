// Looks for an order of some operators within a capacity, or proves that there is none.
//
// From what has run it goes through the sets of operators that can have run next, least live memory
// first, until one is no larger than where it began. Then it goes there and never comes back: the
// largest least set between the two is as good a start as any [OC2], which a minimum cut finds. If
// no set is left, no order keeps the capacity, and the least that was too much is a bound [OB3].
// The same holds backwards, from the end; the search goes from both ends in turn, each as far as
// its states allow.
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
#include "instances/order/memory.h"
#include "instances/order/table.h"

namespace stowage {

class CommitSearch {
 public:
  using End = CommitEnd;
  using Found = CommitFound;

  explicit CommitSearch(const OrderTable& table) : graph_(table) {}

  // `memory` is where the order begins; afterwards it is there again. `targets` stand in an order
  // that keeps all precedences; with what has run, they are a downset. Each search from one end to
  // the next commit may look at so many states. Deterministic but for the budget.
  Found run(OrderMemory& memory, std::span<const int> targets, Bytes capacity,
            std::int64_t most_states, const Budget& budget);

 private:
  template <class Steps>
  Found walk(OrderMemory& memory, std::span<const int> targets, Bytes capacity,
             std::int64_t most_states, const Budget& budget);

  CommitGraph graph_;
};

}  // namespace stowage
