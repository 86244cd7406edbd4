// The sequences of the step LP, merged into items.
//
//   ScatterStepLp lp(table, step_items(table, 80), grid, fewest);
#pragma once

#include <vector>

#include "instances/scatter/table/planning_table.h"

namespace stowage {

// Kinds [first, last], merged into their mean. The longest kinds stay single.
struct StepItem {
  int first = 0;
  int last = 0;
  double count = 0;
  // Per configuration: padded tokens, without those that it counts per sequence.
  std::vector<double> tokens;
  std::vector<Ms> cost;  // per configuration
};

// Merges runs of kinds of similar length that fit the same configurations and have at most 1 /
// resolution of the step's area together. A kind with a larger area stays single.
std::vector<StepItem> step_items(const ScatterTable& table, double resolution);

}  // namespace stowage
