// The notes of a report: sentences on where the execution differs from the plan.
//
//   add_notes(scaled, 6, report.notes);
#pragma once

#include <string>
#include <vector>

#include "kernels/run/scaled_plan.h"

namespace stowage::kernels {

// Adds notes on the kinds of layers, and on batches that run through stacks of `blocks` blocks.
void add_notes(const ScaledPlan& plan, int blocks, std::vector<std::string>& notes);

}  // namespace stowage::kernels
