// The price of one given configuration, as trainers run it: stages of equally many layers, one ZeRO
// level and one recomputation for all of them.
//
//   const StrategyPlan plan = price_configuration(
//       instance, {.its = {.pp = 4, .micro_batches = 64}, .layout = {.tp = 8, .dp = 2}});
//   plan.step_ms;  // whether or not it fits into memory: fits() says that
//
// Thread safety: reads its arguments and nothing else.
#pragma once

#include <cstdint>
#include <vector>

#include "instances/strategy/instance.h"
#include "instances/strategy/plan.h"
#include "instances/strategy/table.h"

namespace stowage {

struct StrategyConfiguration {
  StrategyClass its;
  StrategyLayout layout;
  StageChoice choice;
};

// Layers of each of `stages` stages. What does not divide goes to stages behind the first one, or,
// if embedding and head make a multiple, these count as layers. Requires 1 to `layers` stages.
std::vector<std::int64_t> dealt_layers(std::int64_t layers, std::int64_t stages);

// Requires a valid instance, a number of stages of at most its layers, and degrees from 1 on; with
// layers that differ, one chunk of a stage. The options of the instance need not allow the
// configuration, and degrees need divide nothing. The hash of the plan is left empty.
StrategyPlan price_configuration(const StrategyInstance& instance,
                                 const StrategyConfiguration& configuration);

}  // namespace stowage
