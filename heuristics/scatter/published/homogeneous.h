// One degree for all groups of a step (static sequence parallelism), and the best such degree per
// step, "BatchAda" in FlexSP's evaluation (arXiv 2412.01523, section 6.1).
#pragma once

#include <optional>

#include "heuristics/scatter/working_plan.h"
#include "instances/budget.h"

namespace stowage {

// Share of a group's memory that FlexSP's baselines fill.
inline constexpr double kPublishedFill = 0.9;

// Packs sequences by best-fit-decreasing into bins of max(fill C d, longest) tokens. floor(N / d)
// consecutive bins form a micro-batch. Returns nullopt if the longest sequence exceeds C d.
std::optional<WorkingStep> homogeneous(const ScatterTable& table, int config,
                                       double fill = kPublishedFill);

// Returns the fastest homogeneous plan, ties to the smaller degree. Returns nullopt if no degree
// holds the longest sequence. If the budget ends first, returns the best of the degrees tried. The
// first degree tried is the fastest one for full groups and busy devices.
std::optional<WorkingStep> batch_ada(const ScatterTable& table, double fill = kPublishedFill,
                                     const Budget& budget = Budget());

}  // namespace stowage
