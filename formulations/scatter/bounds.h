// Closed-form lower bounds on a scatter step: no plan is faster.
//
//   for (const NamedBound& bound : scatter_bounds(ScatterTable(instance))) ...   // weakest first
//
// Proofs are in formulations/README.md under the bounds' names.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "instances/proof.h"
#include "instances/scatter/table.h"

namespace stowage {

// Names of the bounds that need no search: those of scatter_bounds().
inline constexpr std::array<std::string_view, 3> kScatterClosedForms = {"longest", "area",
                                                                        "pigeonhole"};
// Of those that a certificate proves, and of those that a search or a backend only says.
inline constexpr std::array<std::string_view, 2> kScatterCertified = {"step-lp", "profile"};
inline constexpr std::array<std::string_view, 3> kScatterSearched = {"subsets", "milp-cbc",
                                                                     "milp-glpk"};

// Fewest micro-batches of any plan: by tokens, and by how many sequences of at least one length
// fit one micro-batch (pigeonhole); rounded up to the multiple that the rules ask for. 0 for an
// empty step. Requires every sequence to fit some level.
int least_micro_batches(const ScatterTable& table);

// The fewest groups of a micro-batch: as many as make up N ranks if none may idle, otherwise 1.
// Nothing if no groups make up N. O(N levels) where degrees do not divide each other.
std::optional<std::int64_t> least_groups(const ScatterTable& table);

// What a step of so many micro-batches or more takes at least, in ms: their overheads, all
// device-time spread evenly and, in a pipeline, the longest makespan as often as it counts besides,
// which is that of the longest sequence or the mean. O(lengths levels).
Ms step_of_more(const ScatterTable& table, int micro_batches);

// The least time of a micro-batch with the sequence for which that is the most, ms.
Ms longest_alone(const ScatterTable& table);

// All closed-form bounds of the step in ms, weakest first:
//   longest     the longest sequence on a group of its own [B1]
//   area        step_of_more(least_micro_batches) [B2]
//   pigeonhole  long sequences that cannot share a micro-batch, one makespan each [B3]
// Requires every sequence to fit some level.
std::vector<NamedBound> scatter_bounds(const ScatterTable& table);

}  // namespace stowage
