// Published methods that assign sequences, as baselines. Each function plans one strategy.
//
// All functions keep the caps and the row constraints, unlike most of their sources. Rows are
// split, and their numbers raised, until the constraints hold.
#pragma once

#include <optional>

#include "heuristics/assign/working_plan.h"
#include "instances/budget.h"

namespace stowage {

// Longest processing time (LPT): assigns sequences, longest first, to the replica whose work then
// ends first, and then packs the fewest rows. The schemes' costs count, but rows and bubbles do
// not. All functions below return nullopt if the budget ends first.
std::optional<AssignWorkingPlan> assign_lpt(const AssignTable& table, int strategy,
                                            const Budget& budget = Budget());

// verl's balancing (verl/utils/seqlen_balancing.py): Karmarkar-Karp on the workload 24576 s + s^2
// over replicas, then over the rows of each replica. All replicas get the number of rows that the
// replica with the most tokens needs. verl's rows may exceed the cap; here the number of rows is
// raised until no row does. Returns nullopt for strategies of several schemes.
std::optional<AssignWorkingPlan> assign_karmarkar_karp(const AssignTable& table, int strategy,
                                                       const Budget& budget = Budget());

enum class RowFit { first_fit_decreasing, best_fit_decreasing, next_fit };

// Packs rows first, as packers of training data do, and then assigns rows to replicas. The
// decreasing rules ("Fewer Truncations", arXiv 2404.10830) assign each row to the replica that then
// ends first. Next-fit (Megatron's dp_balanced) packs in the order of ids, splits rows until their
// number is a multiple of the replicas, and assigns them in turn. Returns nullopt for strategies of
// several schemes.
std::optional<AssignWorkingPlan> assign_packed_rows(const AssignTable& table, int strategy,
                                                    RowFit rule, const Budget& budget = Budget());

// Splits rows and moves sequences to empty replicas until the row constraints hold. Returns false
// if there are too few sequences for that or the budget ends first. Requires rows within the caps.
bool settle_rows(const AssignTable& table, AssignWorkingPlan& draft,
                 const Budget& budget = Budget());

}  // namespace stowage
