// The starts that race each other.
#pragma once

#include <optional>
#include <vector>

#include "heuristics/scatter/working_plan.h"

namespace stowage {

// Returns a projection of a step to its time in ms, for standard algorithms.
inline auto by_time(const ScatterTable& table) {
  return [&table](const WorkingStep& step) { return step_ms(table, step); };
}

// Moves the fastest start out of the field. Returns nullopt if the field is empty.
std::optional<WorkingStep> best_of(const ScatterTable& table, std::vector<WorkingStep>& field);

// Adds a start in its best forms, as its plan would have them. Drops a step that cannot be repaired
// to keep the rules.
void add_start(const ScatterTable& table, std::optional<WorkingStep> step,
               std::vector<WorkingStep>& field);

// Adds a step that was replaced on the way to a start, but only if it is the best start so far.
void add_if_best(const ScatterTable& table, WorkingStep step, std::vector<WorkingStep>& field);

// Keeps `count` starts. First the best start of each micro-batch count up to the count of the best
// start, since annealing rarely changes the count. Then the best of the others. Pipelines also keep
// larger counts if their start is within kNear of the best.
void keep_best(const ScatterTable& table, std::vector<WorkingStep>& field, std::size_t count);

}  // namespace stowage
