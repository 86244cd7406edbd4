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

namespace stowage {

// Whether the step keeps the rules. O(groups).
bool obeys(const ScatterTable& table, const StepDraft& step);

// The step with the rules kept, without its empty groups and micro-batches; unchanged if it keeps
// them. Nothing if this finds no way: there may be too few sequences, or one that it misses.
// Requires a step whose groups are within their limits. Deterministic.
std::optional<StepDraft> obeying(const ScatterTable& table, StepDraft step);

}  // namespace stowage
