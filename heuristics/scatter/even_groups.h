// Micro-batches whose groups hold equally many sequences, as rules.equal_sequences asks.
//
// n sequences in groups of c each make n / c groups, so that the divisors of n are all there is to
// choose from. For each of them sequences of like lengths are put together, or long and short ones,
// and then degrees follow: the least makespan for which every group has one that is fast enough.
// Moves of single sequences would break the rule; exchanges do not.
//
//   auto batch = group_evenly(table, positions, 64);
#pragma once

#include <optional>
#include <span>

#include "heuristics/scatter/draft.h"
#include "instances/budget.h"

namespace stowage {

// Whether the groups that hold a sequence hold equally many.
bool has_equal_groups(const MicroBatchDraft& batch);

// The best grouping found, with at most so many exchanges; if the rules ask for it and that was
// found, it covers all devices. Nothing if none was found; a single sequence that fits a level
// always groups. Requires `positions` ascending, one at least, and a table whose levels recompute
// in one way.
std::optional<MicroBatchDraft> group_evenly(const ScatterTable& table,
                                            std::span<const int> positions, int polish_rounds);

// A step of consecutive chunks, longest first, each in groups of consecutive sequences: a shortest
// path over the cuts, where groups and sequences of each come in a few round numbers. Nothing if
// there is no such step or the budget ends first. The same requirements.
std::optional<StepDraft> even_chunks(const ScatterTable& table, const Budget& budget);

}  // namespace stowage
