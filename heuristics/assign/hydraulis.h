// The published planner: Hydraulis (arXiv 2412.07894, section 4.2 and the authors' code).
//
// It plans each strategy that can hold the longest sequence. Stage 1 dispatches the sequences in 50
// random orders, each sequence to the replica whose new global maximum of (sum f + (pp - 1) max f)
// is least, and keeps the best order. Stage 2 packs the rows of each replica for up to 20 row
// counts, such that the longest row is shortest, and keeps the best count.
//
// The authors' code scores a replica as (rows + pp - 1) * longest row, which is wrong for pp = 1,
// where row times simply add up. HydraulisScore::published measures the loss by that score. A plan
// made with it still states the true objective.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "heuristics/assign/draft.h"
#include "heuristics/assign/rows.h"
#include "instances/budget.h"

namespace stowage {

enum class HydraulisScore {
  published,
  modelled
};  // (v + pp - 1) max t, or T of instances/assign/instance.h

// Returns exactly `rows` rows with the shortest longest row that the packer finds, or nullopt.
// Positions ascend.
using RowPacker = std::function<std::optional<std::vector<RowDraft>>(
    const AssignTable& table, int scheme, std::span<const int> positions, int rows)>;

// Returns nullopt if no strategy could be planned. With `even_rows` as the packer, this is the
// variant without a MILP.
std::optional<AssignDraft> hydraulis(const AssignTable& table, HydraulisScore score,
                                     const RowPacker& packer, std::uint64_t seed,
                                     const Budget& budget);

}  // namespace stowage
