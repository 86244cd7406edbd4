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

#include "instances/budget.h"
#include "instances/order/least_live.h"
#include "instances/order/memory.h"
#include "instances/order/table.h"

namespace stowage {

class CommitSearch {
 public:
  enum class End {
    found,      // steps are an order of all targets within the capacity
    none,       // there is no such order; each has a step that needs least_overflow at least
    exhausted,  // of states, or of the budget
  };
  struct Found {
    End end = End::exhausted;
    std::vector<int> steps;
    Bytes least_overflow = 0;
    std::int64_t states = 0;
  };

  explicit CommitSearch(const OrderTable& table);

  // `memory` is where the order begins; afterwards it is there again. `targets` stand in an order
  // that keeps all precedences; with what has run, they are a downset. Each search from one end to
  // the next commit may look at so many states. Deterministic but for the budget.
  Found run(OrderMemory& memory, std::span<const int> targets, Bytes capacity,
            std::int64_t most_states, const Budget& budget);

 private:
  template <class Steps>
  class Walk;

  template <class Steps>
  Found walk(OrderMemory& memory, std::span<const int> targets, Bytes capacity,
             std::int64_t most_states, const Budget& budget);

  const OrderTable& table_;
  LeastLive least_;
  std::vector<std::uint64_t> marks_;  // of operators
  std::vector<int> wanted_;           // the walk in which an operator is a target
  int walks_ = 0;
};

}  // namespace stowage
