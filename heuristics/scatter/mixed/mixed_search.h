// Plans steps of mixed micro-batches: which sequences all devices share, and on which device and in
// which micro-batch the others are.
//
//   WorkingStep step = best_mixed(table, {}, params, seed, budget);
//
// Starts share the sequences that are cheaper shared at some price of a hidden exchange
// (formulations/scatter/bounds.h has the price that bounds the step), for a few prices and numbers
// of micro-batches, and place the others on the least loaded devices. Annealing improves the best
// of them.
#pragma once

#include <cstdint>
#include <vector>

#include "heuristics/scatter/params.h"
#include "heuristics/scatter/working_plan.h"
#include "instances/budget.h"
#include "instances/scatter/table/planning_table.h"

namespace stowage {

// Returns the best step that annealing finds in about `moves` moves per sequence, from the starts
// and from `others`; never slower than one of these. Requires table.mixes(), and that the table
// holds every sequence of the step, of which there is at least one.
WorkingStep best_mixed(const ScatterTable& table, const std::vector<WorkingStep>& others,
                       double moves, const MultistartParams& params, std::uint64_t seed,
                       const Budget& budget);

// Returns the best step that annealing from this one finds in about `moves` moves per sequence,
// from a temperature of `hot` times the mean makespan. The step is never slower than this one.
WorkingStep annealed_mixed(const ScatterTable& table, const WorkingStep& step, double moves,
                           double hot, std::uint64_t seed, const Budget& budget);

}  // namespace stowage
