// Sequences as the step LP sees them.
//
//   ScatterStepLp lp(table, step_items(table, 80), grid, fewest);
#pragma once

#include <vector>

#include "instances/scatter/table.h"

namespace stowage {

// What the LP sees of sequences: kinds [first, last], merged into their mean. The longest kinds
// stand alone.
struct StepItem {
  int first = 0;
  int last = 0;
  double count = 0;
  double tokens = 0;     // its own: a level's capacity has besides what each of its sequences takes
  std::vector<Ms> cost;  // per level
};

// Runs of kinds of similar length that fit the same levels and make up at most 1 / resolution of
// the step's area together; a kind that is more than that stands alone.
std::vector<StepItem> step_items(const ScatterTable& table, double resolution);

}  // namespace stowage
