// The most valuable set of sequences that one group can hold: a knapsack with two capacities.
//
//   const BestPattern best = best_pattern(items, level.capacity, makespan - level.overhead, 8.0);
//   if (best.worth > 8.0) use(best.amounts);      // a set worth more than 8
//   // and no set at all is worth more than best.most
//
// What a column of the pattern LP (solvers/scatter/repack.h) is priced with, and what a price of a
// pattern certificate is proven with.
#pragma once

#include <cstdint>
#include <vector>

#include "instances/units.h"

namespace stowage {

// Sequences that are alike.
struct PatternItem {
  int kind = 0;   // whatever the caller calls them
  int count = 0;  // at most so many
  Tokens tokens = 0;
  Ms time = 0;
  double worth = 0;  // of one of them
};

struct PatternAmount {
  int kind = 0;
  int count = 0;

  bool operator==(const PatternAmount&) const = default;
};

struct BestPattern {
  std::vector<PatternAmount> amounts;  // ascending kind; empty if nothing beats the floor
  double worth = 0;                    // of these; the floor if there are none
  double most = 0;                     // no set is worth more
};

// Dynamic programming over the items, the densest first, with dominance among sets of equal tokens
// and a linear bound on what can still be added; sets that cannot beat `floor` are dropped. At most
// `most_states` sets are kept at a time, those of the best bounds: `most` stays valid, and equals
// `worth` unless sets were lost. Requires capacity >= 0 and room >= 0. Deterministic.
//
// With at most `most_sequences` in a set, dominance does not look at their number: the set may then
// not be the best one, and `most` is no bound.
BestPattern best_pattern(std::vector<PatternItem> items, Tokens capacity, Ms room, double floor,
                         std::size_t most_states = 20000, std::int64_t most_sequences = kMaxExact);

}  // namespace stowage
