// Computes the work that fits a time in a row pattern, and the longest time that the prices of
// patterns refute.
//
//   proven_time(table, strategy, proof, 0, upper)  // ms that no plan of the strategy undercuts
//
// The proof is in docs/theory/assign.md, "Row patterns".
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "instances/assign/certificate.h"
#include "instances/assign/planning_table.h"

namespace stowage {

// A range of row numbers of one scheme. The last range has no end.
struct RowRange {
  std::int64_t least = 1;
  std::int64_t most = 0;  // 0: no end
};

// Returns the largest work of a replica with this range of rows within `time`, in ms, if its
// longest sequence has work `longest`. Negative if the rows alone take longer.
Ms most_work(const Scheme& scheme, const RowRange& range, Ms longest, Ms time);

// Returns for each pattern of a scheme the work of the shortest sequence that may be its longest.
std::vector<Ms> least_longest(const AssignTable& table, int scheme,
                              const std::vector<RowPattern>& patterns);

// Returns the value of a share x in a part of `steps` steps: (ceil((steps + 1) x) - 1) / steps, for
// an x that is certainly at most the true share.
double part_of(std::int64_t steps, double share);

// Returns true if only the replicas of this group can hold the longest sequence, so that one of
// them has it as its longest. Requires a sequence.
bool alone_holds_longest(const AssignTable& table, int strategy, std::size_t group);

// Returns the longest time in ms that the proof refutes, by bisection between `known` and `upper`
// to 1e-7 (relative), or `known` if the proof refutes no longer time. Requires prices of at least
// 0.
Ms proven_time(const AssignTable& table, int strategy, const StrategyProof& proof, Ms known,
               Ms upper);

}  // namespace stowage
