// Whether the replicas of one assign strategy can hold all sequences within a time: replica after
// replica is completed around the longest sequence that is left. Not installed.
//
//   const Completion found = complete(table, strategy, time, 100'000, budget);
//   if (found.end == Completion::End::none) ...   // no plan of the strategy takes so little
//
// A share counts as possible if its work, spread evenly over the fewest rows that its tokens need
// or more, ends in time: a relaxation, so that `none` is a proof and `found` is a promise that rows
// have yet to keep. Only shares to which nothing can be added, and in which no sequence can be
// exchanged for a longer one, are tried: such an addition or exchange leaves the other replicas no
// more than they had. docs/theory/assign.md, AB8.
// Source: bin completion, Martello and Toth (1990), Korf (AAAI 2002).
#pragma once

#include <cstdint>
#include <vector>

#include "heuristics/assign/dispatch.h"
#include "instances/assign/table.h"
#include "instances/budget.h"

namespace stowage {

inline constexpr int kMostCompleted = 64;  // sequences

struct Completion {
  enum class End { open, none, found };
  End end = End::open;
  Dispatch shares;         // of each replica, if found: positions, ascending
  std::int64_t nodes = 0;  // sequences looked at for a share, and shares
};

// At most about so many `nodes`, of which a core does some ten million in a second. Requires 1 to
// kMostCompleted sequences and a usable strategy.
Completion complete(const AssignTable& table, int strategy, Ms time, std::int64_t nodes,
                    const Budget& budget);

}  // namespace stowage
