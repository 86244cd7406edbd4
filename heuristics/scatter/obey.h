// The rules on whole micro-batches and on their number: no idle ranks, groups that hold equally
// many sequences, a multiple of some count. And that groups of a micro-batch recompute alike.
//
// Most methods plan without them. One shared step mends what they made: micro-batches are split or
// united until their number is right, then groups are widened, or split, and sequences borrowed
// from other micro-batches, until every rank has work. Where groups must hold equally many
// sequences, the micro-batches in which they do not are grouped anew. Limits on one group are kept
// by all methods themselves.
//
//   if (std::optional<StepDraft> step = obeying(table, *std::move(made))) use(*step);
#pragma once

#include <optional>

#include "heuristics/scatter/draft.h"
#include "instances/numbers.h"

namespace stowage {

// Whether the step keeps the rules. O(groups).
bool obeys(const ScatterTable& table, const StepDraft& step);

// The step with the rules kept, without its empty groups and micro-batches; unchanged if it keeps
// them. Nothing if this finds no way: there may be too few sequences, or one that it misses.
// Requires a step whose groups are within their limits. Deterministic.
std::optional<StepDraft> obeying(const ScatterTable& table, StepDraft step);

// The same, then with the way to recompute and the exchange with which each micro-batch is fastest:
// the step that a plan is made of. Steps whose forms are still to be chosen must not be compared.
std::optional<StepDraft> obeying_in_best_forms(const ScatterTable& table, StepDraft step);

// Returns such a step and its time: what methods that try several steps compare. If no way is found
// to keep the rules, returns the step as it was and an infinite time.
TimedDraft as_planned(const ScatterTable& table, StepDraft step);

}  // namespace stowage
