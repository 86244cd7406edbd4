// One degree for all groups of a step: what static sequence parallelism does, and the best such
// degree per step, "BatchAda" in FlexSP's evaluation (arXiv 2412.01523, section 6.1).
#pragma once

#include <optional>

#include "heuristics/scatter/draft.h"
#include "instances/budget.h"

namespace stowage {

// What share of a group's memory FlexSP's baselines fill.
inline constexpr double kPublishedFill = 0.9;

// Packs sequences by best-fit-decreasing into bins of max(fill C d, longest) tokens; floor(N / d)
// consecutive bins form a micro-batch. Nothing if the longest sequence exceeds C d.
std::optional<StepDraft> homogeneous(const ScatterTable& table, int level,
                                     double fill = kPublishedFill);

// The fastest homogeneous plan; ties to the smaller degree. Nothing if no degree holds the longest
// sequence. If the budget ends first, the best of those tried: at least the one that is fastest if
// every group were full and every device busy.
std::optional<StepDraft> batch_ada(const ScatterTable& table, double fill = kPublishedFill,
                                   const Budget& budget = Budget());

}  // namespace stowage
