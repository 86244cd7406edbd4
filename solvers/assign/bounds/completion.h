// Tree search that decides whether the replicas of one assign strategy can hold all sequences
// within a time. Each replica in turn is completed around the longest remaining sequence. Not
// installed.
//
//   const Completion found = complete(table, strategy, time, 100'000, budget);
//   if (found.end == Completion::End::none) ...   // no plan of the strategy is this fast
//
// A share counts as possible if its work, spread evenly over at least as many rows as its tokens
// need, ends in time. This is a relaxation: `none` is a proof, and `found` still needs rows that
// keep the time. The search tries only maximal shares: no sequence can be added, and none can be
// exchanged for a longer one. Such an addition or exchange leaves the other replicas no more than
// before. docs/theory/assign.md, AB8. Source: bin completion, Martello and Toth (1990), Korf (AAAI
// 2002).
#pragma once

#include <cstdint>
#include <vector>

#include "heuristics/assign/construct/dispatch.h"
#include "instances/assign/planning_table.h"
#include "instances/budget.h"

namespace stowage {

inline constexpr int kMaxCompleted = 64;  // largest number of sequences

struct Completion {
  enum class End { open, none, found };
  End end = End::open;
  Dispatch shares;         // if found: the ascending positions of each replica
  std::int64_t nodes = 0;  // shares, and sequences tried for a share
};

// Returns the result of the search within about `nodes` nodes. A core visits about ten million
// nodes per second. Requires 1 to kMaxCompleted sequences and a usable strategy.
Completion complete(const AssignTable& table, int strategy, Ms time, std::int64_t nodes,
                    const Budget& budget);

}  // namespace stowage
