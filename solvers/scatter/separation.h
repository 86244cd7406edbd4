// What separates the plans of a step: how much longer the next best of several methods' plans takes
// than the best. A cost that is off by more does not say which of them is the faster.
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

struct Separation {
  std::vector<MethodTime> plans;  // verified, the fastest first
  double best_to_next = 0;        // relative; of plans that take as long, there is no difference
  double best_to_last = 0;
};

// The plans of fast, batch-ada, megatron-dynamic, dp-balanced and verl, as far as the instance has
// these methods and they find one.
Separation separation_of(const ScatterInstance& instance, Budget& budget);

}  // namespace stowage
