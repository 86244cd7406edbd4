// A large step as copies of a small one.
//
// Every factor-th sequence stands for a block of neighbours that are no longer than itself. Either
// a factor-th of the devices plans them, and each of its groups comes in as many copies; or all
// devices do, and each of its micro-batches does. What fits the small step then fits the large one
// and takes no longer: the loss is that of rounding lengths up within a block, and annealing wins
// it back.
#pragma once

#include <optional>

#include "heuristics/scatter/draft.h"

namespace stowage {

struct Coarse {
  ScatterTable table;
  int factor = 1;
  bool fewer_devices = false;  // copies are groups, or else micro-batches
};

// Nothing for steps that are small enough, or have neither the devices nor the micro-batches for
// it.
std::optional<Coarse> coarsen(const ScatterTable& table);

// A plan of `table` from one of coarse.table.
StepDraft refine(const ScatterTable& table, const Coarse& coarse, const StepDraft& step);

}  // namespace stowage
