// Computes the most valuable set of sequences that one group can hold: a knapsack with two
// capacities.
//
//   const BestPattern best = best_pattern(items, config.capacity, makespan - config.overhead, 8.0);
//   if (best.worth > 8.0) use(best.amounts);      // a set worth more than 8
//   // and every set is worth at most best.most
//
// It prices columns of the pattern LP (solvers/scatter/patterns/pattern_dive.h) and proves the
// prices of pattern certificates.
#pragma once

#include <cstdint>
#include <vector>

#include "instances/units.h"

namespace stowage {

// Sequences that are alike.
struct PatternItem {
  int kind = 0;   // any number of the caller's
  int count = 0;  // limit
  Tokens tokens = 0;
  Ms time = 0;
  double worth = 0;  // worth of one sequence
};

struct PatternAmount {
  int kind = 0;
  int count = 0;

  bool operator==(const PatternAmount&) const = default;
};

struct BestPattern {
  std::vector<PatternAmount> amounts;  // ascending kind; empty if no set exceeds the floor
  double worth = 0;                    // worth of `amounts`; the floor if they are empty
  double most = 0;                     // upper bound on the worth of every set
};

// Dynamic programming over the items, densest first. Dominance compares sets of equal tokens, and a
// linear bound limits the worth that can be added. Sets that cannot exceed `floor` are dropped.
// Keeps at most `most_states` sets, those of the best bounds. `most` stays valid then, and it
// equals `worth` unless sets were dropped. Requires capacity >= 0 and room >= 0. Deterministic.
//
// If `most_sequences` limits a set, dominance ignores the number of sequences. Then the set may not
// be the best, and `most` is no bound.
BestPattern best_pattern(std::vector<PatternItem> items, Tokens capacity, Ms room, double floor,
                         std::size_t most_states = 20000, std::int64_t most_sequences = kMaxExact);

}  // namespace stowage
