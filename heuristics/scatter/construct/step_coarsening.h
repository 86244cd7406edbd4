// Aggregation: plans a large step as copies of a small step.
//
// Every factor-th sequence represents itself and the sequences up to the next representative, which
// are no longer. There are two variants. The first plans the representatives on a factor-th of the
// devices and copies each group. The second plans them on all devices and copies each micro-batch.
// A small step within memory gives a large step within memory that takes no longer per micro-batch.
// The loss is the rounding of lengths within a block, and annealing recovers it.
#pragma once

#include <optional>

#include "heuristics/scatter/working_plan.h"

namespace stowage {

struct CoarsenedStep {
  ScatterTable table;
  int factor = 1;
  bool fewer_devices = false;  // true: groups are copied; false: micro-batches are copied
};

// Returns nullopt if the step is small enough, or if it has too few devices and too few
// micro-batches for both variants.
std::optional<CoarsenedStep> coarsen(const ScatterTable& table);

// Returns the plan of `table` that copies a plan of coarse.table.
WorkingStep refine(const ScatterTable& table, const CoarsenedStep& coarse, const WorkingStep& step);

}  // namespace stowage
