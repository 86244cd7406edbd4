// Published ways to assign sequences, as baselines. Each plans one strategy.
//
// All of them keep the caps and the row constraints, which most of their sources do not. Rows are
// split, and their numbers raised, until the constraints hold.
#pragma once

#include <optional>

#include "heuristics/assign/draft.h"
#include "instances/budget.h"

namespace stowage {

// Longest processing time: gives sequences, longest first, to the replica whose work ends first,
// and then packs the fewest rows. It considers schemes, but neither rows nor bubbles while it
// dispatches. All functions below return nullopt if the budget ends first.
std::optional<AssignDraft> assign_lpt(const AssignTable& table, int strategy,
                                      const Budget& budget = Budget());

// verl's balancing (verl/utils/seqlen_balancing.py): Karmarkar-Karp of the workload 24576 s + s^2
// over replicas, then over the rows of each replica. All replicas have the number of rows that the
// replica of most tokens needs. The rows of verl may exceed the cap. Here the number of rows is
// raised until no row does. Returns nullopt for strategies of several schemes.
std::optional<AssignDraft> assign_karmarkar_karp(const AssignTable& table, int strategy,
                                                 const Budget& budget = Budget());

enum class RowFit { first_fit_decreasing, best_fit_decreasing, next_fit };

// Packs rows first, as packers of training data do, and then gives rows to replicas. The decreasing
// rules ("Fewer Truncations", arXiv 2404.10830) give each row to the replica that then ends first.
// Next-fit (Megatron's dp_balanced) packs in the order of ids, splits rows until their number is a
// multiple of the replicas, and deals them in turn. Returns nullopt for strategies of several
// schemes.
std::optional<AssignDraft> assign_packed_rows(const AssignTable& table, int strategy, RowFit rule,
                                              const Budget& budget = Budget());

// Splits rows and moves sequences to empty replicas until the row constraints hold. Returns false
// if there are too few sequences for that or the budget ends first. Requires rows within the caps.
bool settle_rows(const AssignTable& table, AssignDraft& draft, const Budget& budget = Budget());

}  // namespace stowage
