// Closed-form lower bounds on a scatter step: no plan is faster.
//
//   for (const NamedBound& bound : scatter_bounds(ScatterTable(instance))) ...   // weakest first
//
// Proofs are in docs/theory/scatter.md under the bounds' names.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "instances/proof.h"
#include "instances/scatter/table/planning_table.h"

namespace stowage {

// Names of the bounds that need no search: those of scatter_bounds().
inline constexpr std::array<std::string_view, 3> kScatterClosedForms = {"longest", "area",
                                                                        "pigeonhole"};
// Names of the bounds that a certificate proves, and of the bounds that only a search or a backend
// proves.
inline constexpr std::array<std::string_view, 2> kScatterCertified = {"step-lp", "profile"};
inline constexpr std::array<std::string_view, 4> kScatterSearched = {"subsets", "milp-cbc",
                                                                     "milp-glpk", "milp-highs"};

// Returns the fewest micro-batches of any plan: by tokens, by the number of long sequences that fit
// one micro-batch (pigeonhole), and rounded up to the multiple that the rules require. Returns 0
// for an empty step. Requires that every sequence fits some configuration.
int least_micro_batches(const ScatterTable& table);

// Returns the fewest groups of a micro-batch: those that cover N ranks if none may idle, otherwise
// 1. Returns nullopt if no groups cover N ranks. O(N configurations) if degrees do not divide each
// other.
std::optional<std::int64_t> least_groups(const ScatterTable& table);

// Returns a bound in ms on a step of at least `micro_batches` micro-batches: their overheads, all
// device-time spread evenly and, in a pipeline, the additional cost of the longest makespan. The
// longest makespan is at least that of the longest sequence and at least the mean. With offload,
// also the copies of all tokens beyond those that memory holds. O(lengths configurations).
Ms step_of_more(const ScatterTable& table, int micro_batches);

// Returns a bound in ms on a step that may mix micro-batches (ScatterTable::mixes()), beside its
// overheads: the least, over the longest sequence that is on a device of its own, of the largest of
// three bounds [B2]. All longer sequences are shared by all devices. O(L log L) for L lengths.
Ms mixed_area_ms(const ScatterTable& table);

// Returns the largest of the least times of a micro-batch with a given sequence, in ms.
Ms longest_alone(const ScatterTable& table);

// Returns a bound in ms on the end of the 1F1B schedule of any plan of an instance with pipeline
// stages. The first stage computes all micro-batches, and the longest one passes all stages.
// 0 for an empty step. Requires that every sequence fits some configuration.
Ms simulated_bound(const ScatterInstance& instance);

// Returns all closed-form bounds of the step in ms, weakest first:
//   longest     the longest sequence on a group of its own [B1]
//   area        step_of_more(least_micro_batches) [B2]
//   pigeonhole  long sequences that cannot share a micro-batch, one makespan each [B3]
// Requires every sequence to fit some configuration.
std::vector<NamedBound> scatter_bounds(const ScatterTable& table);

}  // namespace stowage
