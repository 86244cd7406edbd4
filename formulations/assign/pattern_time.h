// What a time is enough for in a pipeline of row patterns, and how long a time their prices refute.
//
//   proven_time(table, strategy, proof, 0, upper)  // ms that no plan of the strategy undercuts
//
// formulations/README.md, "Row patterns", has the proof.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "instances/assign/certificate.h"
#include "instances/assign/table.h"

namespace stowage {

// Row numbers of one scheme that count as one, the last range without end.
struct RowRange {
  std::int64_t least = 1;
  std::int64_t most = 0;  // 0: without end
};

// The most work that a replica with so many rows does within `time`, if its longest sequence has
// work `longest`; negative if such rows alone take longer.
Ms most_work(const Scheme& scheme, const RowRange& range, Ms longest, Ms time);

// For each pattern of a scheme the work of the shortest longest sequence it may have.
std::vector<Ms> least_longest(const AssignTable& table, int scheme,
                              const std::vector<RowPattern>& patterns);

// What a part of so many steps counts a share x as: (ceil((steps + 1) x) - 1) / steps, for an x
// that is surely not more than the true one.
double part_of(std::int64_t steps, double share);

// Whether only the replicas of this group can hold the longest sequence, so that it is the longest
// of one of them. Requires a sequence.
bool alone_holds_longest(const AssignTable& table, int strategy, std::size_t group);

// The longest time that the proof refutes, found by bisection between two times to 1e-7 relative,
// or `known` if it does not refute so much. Requires prices of at least 0.
Ms proven_time(const AssignTable& table, int strategy, const StrategyProof& proof, Ms known,
               Ms upper);

}  // namespace stowage
