// The exact search for steps of few sequences: everything is tried, each set of sequences once.
//
//   if (auto step = best_of_subsets(table, plan.objective_ms, budget)) ...   // no plan is faster
//
// Two dynamic programmes over the sets of sequences, in which sequences of one padded length are
// interchangeable; formulations/README.md, "Sets of sequences". Twelve sequences take some
// milliseconds, eighteen some tenths of a second. Not installed.
#pragma once

#include <optional>

#include "heuristics/scatter/draft.h"
#include "instances/budget.h"
#include "instances/scatter/table.h"

namespace stowage {

// A step of the least objective. Nothing if that is too much work, for anybody or for `budget`: the
// work is known before it begins, and a node is 2^20 pairs of sets. Nothing either with rules on
// whole micro-batches or on their number. `upper` is a known plan's
// objective in ms: the smaller, the less work. Requires every sequence to fit some level.
std::optional<StepDraft> best_of_subsets(const ScatterTable& table, Ms upper, Budget& budget);

}  // namespace stowage
