// Exact search for steps of few sequences by dynamic programming over subsets.
//
//   if (auto step = best_of_subsets(table, plan.objective_ms, budget)) ...   // no plan is faster
//
// Two dynamic programmes run over the sets of sequences, with sequences of one padded length
// interchangeable. See docs/theory/scatter.md, "Sets of sequences". Twelve sequences take a few ms,
// and eighteen take some tenths of a second. Not installed.
#pragma once

#include <optional>

#include "heuristics/scatter/working_plan.h"
#include "instances/budget.h"
#include "instances/scatter/table/planning_table.h"

namespace stowage {

// Returns a step of the least objective. `upper` is the objective of a known plan in ms, and a
// smaller value saves work. Returns nullopt in two cases: the work, known in advance, exceeds the
// search's limit or `budget` (a node is 2^20 pairs of sets), or the instance has rules on whole
// micro-batches or their number. Requires that every sequence fits some configuration.
std::optional<WorkingStep> best_of_subsets(const ScatterTable& table, Ms upper, Budget& budget);

}  // namespace stowage
