// Compares the plans of several methods for a step: how much longer the second best plan takes than
// the best. A cost model with a larger error cannot decide which of them is faster.
#pragma once

#include <string>
#include <vector>

#include "instances/budget.h"
#include "instances/scatter/instance.h"

namespace stowage {

struct MethodTime {
  std::string method;
  Ms ms = 0;
};

struct MethodSpread {
  std::vector<MethodTime> plans;  // verified plans, fastest first
  double best_to_next = 0;        // relative difference; plans of equal time count as one
  double best_to_last = 0;
};

// Solves with fast, batch-ada, megatron-dynamic, dp-balanced and verl, if the instance has these
// methods, and returns the plans found.
MethodSpread separation_of(const ScatterInstance& instance, Budget& budget);

}  // namespace stowage
