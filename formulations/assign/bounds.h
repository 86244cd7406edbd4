// Closed-form lower bounds on an assign step: no plan is faster.
//
//   for (const NamedBound& bound : assign_bounds(AssignTable(instance))) ...   // weakest first
//
// A step is as fast as its best strategy, so a bound on the step is the least of its strategies'
// bounds. Proofs are in docs/theory/assign.md under the bounds' names. Row constraints can only
// raise the optimum, and the bounds use them where they are cheap.
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "instances/assign/planning_table.h"
#include "instances/budget.h"
#include "instances/proof.h"

namespace stowage {

// Names of the bounds that need no search: those of assign_bounds() and assign_chunk_bounds().
inline constexpr std::array<std::string_view, 5> kAssignClosedForms = {
    "longest", "pigeonhole", "rows", "work", "strategies"};
// Names of the bounds that a certificate proves, and of the bounds that only a search or a backend
// proves.
inline constexpr std::array<std::string_view, 3> kAssignCertified = {"patterns", "configurations",
                                                                     "bands"};
inline constexpr std::array<std::string_view, 6> kAssignSearched = {
    "subsets", "completion", "grouped", "milp-cbc", "milp-glpk", "milp-highs"};

// Returns the bounds of one strategy in ms, weakest first, infinite if it cannot hold the longest
// sequence:
//   longest     the longest sequence alone on its best scheme [AB1]
//   pigeonhole  m + 1 of the m R + 1 longest sequences share one of R replicas; some pair is no
//               shorter than one of those that fold the 2 R longest in the middle [AB2]
//   rows        sequences that fit only one scheme, in the fewest rows, spread evenly [AB3]
//   work        all work spread evenly at the best prices of the schemes [AB4]
// If the budget is exhausted, bounds that need more than some milliseconds get weaker.
std::vector<NamedBound> strategy_bounds(const AssignTable& table, int strategy,
                                        const Budget& budget = Budget());

// Returns the greatest of these bounds.
NamedBound strategy_bound(const AssignTable& table, int strategy, const Budget& budget = Budget());

// Returns each of these as a bound on the step, and `strategies` [AB5], the least strategy_bound().
// If the budget ends before all strategies are bounded, returns only `longest` over all schemes.
// Requires a usable strategy. The bounds of a step without sequences are 0.
std::vector<NamedBound> assign_bounds(const AssignTable& table, const Budget& budget = Budget());

// Returns a bound in ms on the end of the simulated 1F1B schedule of any plan of an instance
// without chunks. The first stage of a replica computes all its rows, so that the bounds of a step
// of one stage hold; and the row of the longest sequence passes all stages of its replica. Requires
// a usable strategy. 0 for a step without sequences.
Ms simulated_bound(const AssignInstance& instance);

}  // namespace stowage
