// Repairs steps so that the rules on whole micro-batches hold: no idle ranks, equal sequence counts
// of the groups, a number of micro-batches that is a multiple of a given one. Also gives the groups
// of a micro-batch one recomputation mode.
//
// Most methods plan without these rules, and this shared repair follows. It works in three parts:
// 1. Micro-batches are split or united until their number is right.
// 2. Groups are widened or split, and sequences are moved from other micro-batches, until every
// rank has work.
// 3. If groups must hold equal numbers of sequences, the micro-batches that violate this are
// grouped anew.
// All methods keep the limits of single groups themselves.
//
//   if (std::optional<WorkingStep> step = repaired(table, *std::move(made))) use(*step);
#pragma once

#include <optional>

#include "heuristics/scatter/working_plan.h"
#include "instances/numeric/numbers.h"

namespace stowage {

// Returns true if the step keeps the rules. O(groups).
bool satisfies_rules(const ScatterTable& table, const WorkingStep& step);

// Returns the repaired step without empty groups and micro-batches, or the step unchanged if it
// keeps the rules. Returns nullopt if the repair fails. Then a step that keeps the rules may still
// exist. Requires a step whose groups are within their limits. Deterministic.
std::optional<WorkingStep> repaired(const ScatterTable& table, WorkingStep step);

// Calls repaired() and then chooses the fastest recomputation mode and exchange of each
// micro-batch. Plans are made of the resulting step. Compare steps only after this choice.
std::optional<WorkingStep> repaired_in_best_forms(const ScatterTable& table, WorkingStep step);

// Returns the step of repaired_in_best_forms() and its time in ms, for methods that compare steps.
// If the repair fails, returns the step unchanged and an infinite time.
TimedWorkingStep as_planned(const ScatterTable& table, WorkingStep step);

}  // namespace stowage
