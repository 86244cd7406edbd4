// The published planner: Hydraulis (arXiv 2412.07894, section 4.2 and the authors' code).
//
// The planner handles each strategy that admits the longest sequence. Stage 1 assigns the sequences
// in 50 random orders and keeps the best order. Each sequence goes to the replica with which the
// global maximum of (sum f + (pp - 1) max f) is least. Stage 2 packs the rows of each replica for
// up to 20 row counts, with the shortest longest row, and keeps the best count.
//
// The authors' code scores a replica as (rows + pp - 1) * longest row, which is wrong for pp = 1,
// where row times add up. HydraulisScore::published plans by that score to measure the loss. The
// plan still states the true objective.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "heuristics/assign/construct/row_packing.h"
#include "heuristics/assign/working_plan.h"
#include "instances/budget.h"

namespace stowage {

enum class HydraulisScore {
  published,
  modelled
};  // (v + pp - 1) max t, or T of instances/assign/instance.h

// Returns exactly `rows` rows with the shortest longest row that the packer finds, or nullopt.
// `positions` ascend.
using RowPacker = std::function<std::optional<std::vector<WorkingRow>>(
    const AssignTable& table, int scheme, std::span<const int> positions, int rows)>;

// Returns the best plan over all strategies by `score`, or nullopt if no strategy can be planned.
// With `even_rows` as the packer, this is the variant without a MILP.
std::optional<AssignWorkingPlan> hydraulis(const AssignTable& table, HydraulisScore score,
                                           const RowPacker& packer, std::uint64_t seed,
                                           const Budget& budget);

}  // namespace stowage
