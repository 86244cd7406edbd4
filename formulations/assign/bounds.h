// Closed-form lower bounds on an assign step: no plan is faster.
//
//   for (const NamedBound& bound : assign_bounds(AssignTable(instance))) ...   // weakest first
//
// A step is as fast as its best strategy, so a bound on the step is the least of its strategies'.
// Proofs are in formulations/README.md under the bounds' names. Row constraints only ever raise
// the truth; they are used where they are cheap.
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "instances/assign/table.h"
#include "instances/budget.h"
#include "instances/proof.h"

namespace stowage {

// Names of the bounds that need no search: those of assign_bounds() and assign_chunk_bounds().
inline constexpr std::array<std::string_view, 5> kAssignClosedForms = {
    "longest", "pigeonhole", "rows", "work", "strategies"};
// Of those that a certificate proves, and of those that a search or a backend only says.
inline constexpr std::array<std::string_view, 3> kAssignCertified = {"patterns", "configurations",
                                                                     "bands"};
inline constexpr std::array<std::string_view, 5> kAssignSearched = {
    "subsets", "completion", "grouped", "milp-cbc", "milp-glpk"};

// At least so many rows of `cap` tokens hold these lengths, which descend: the larger of
// ceil(sum / cap) and Martello and Toth's L2 (1990). Requires every length to be at most `cap`.
Tokens least_rows(std::span<const Tokens> lengths, Tokens cap);

// Of one strategy, in ms, weakest first; infinite where it cannot hold the longest sequence:
//   longest     the longest sequence alone on its best scheme [AB1]
//   pigeonhole  m + 1 of the m R + 1 longest sequences share one of R replicas; some pair is no
//               shorter than one of those that fold the 2 R longest in the middle [AB2]
//   rows        what only one scheme can hold, in the fewest rows, spread evenly [AB3]
//   work        all work spread evenly at the best prices of the schemes [AB4]
// A budget that is exhausted makes them weaker where they take more than some milliseconds.
std::vector<NamedBound> strategy_bounds(const AssignTable& table, int strategy,
                                        const Budget& budget = Budget());

// The greatest of them.
NamedBound strategy_bound(const AssignTable& table, int strategy, const Budget& budget = Budget());

// Each of the above as a bound on the step, and `strategies` [AB5], the least strategy_bound.
// If the budget ends before all strategies are looked at, `longest` alone is left, over all
// schemes. Requires a usable strategy; 0 for a step without sequences.
std::vector<NamedBound> assign_bounds(const AssignTable& table, const Budget& budget = Budget());

}  // namespace stowage
