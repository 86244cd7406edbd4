// Published ways to assign sequences, as marks to compare with. Each plans one strategy.
//
// All of them obey the caps and the row constraints, which most of their sources do not: rows are
// split, and counts raised, until they do.
#pragma once

#include <optional>

#include "heuristics/assign/draft.h"
#include "instances/budget.h"

namespace stowage {

// Longest processing time: sequences from the longest to the replica whose work ends least, then
// the fewest rows. Knows schemes, but neither rows nor bubbles while it dispatches.
// Nothing if the budget ends first, as for all below.
std::optional<AssignDraft> assign_lpt(const AssignTable& table, int strategy,
                                      const Budget& budget = Budget());

// verl's balancing (verl/utils/seqlen_balancing.py): Karmarkar-Karp of the workload
// 24576 s + s^2 over replicas, then over the rows of each; all replicas have as many rows as the
// one of most tokens needs. verl stops there, and its rows may exceed the cap; here the number of
// rows is raised until none does. Nothing for strategies of several schemes.
std::optional<AssignDraft> assign_karmarkar_karp(const AssignTable& table, int strategy,
                                                 const Budget& budget = Budget());

enum class RowFit { first_fit_decreasing, best_fit_decreasing, next_fit };

// Rows first, as packers of training data do, then rows to replicas. The decreasing rules ("Fewer
// Truncations", arXiv 2404.10830) give each row to the replica that ends least; next-fit
// (Megatron's dp_balanced) packs in the order of ids, splits rows until they are a multiple of the
// replicas and deals them in turn. Nothing for strategies of several schemes.
std::optional<AssignDraft> assign_packed_rows(const AssignTable& table, int strategy, RowFit rule,
                                              const Budget& budget = Budget());

// Splits rows and moves sequences to empty replicas until the row constraints hold. False if there
// are too few sequences for that or the budget ends first. Requires rows within the caps.
bool settle_rows(const AssignTable& table, AssignDraft& draft, const Budget& budget = Budget());

}  // namespace stowage
