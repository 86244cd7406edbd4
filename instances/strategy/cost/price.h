// The price of one given configuration, as trainers run it: an equal number of layers per stage,
// and one ZeRO level and one recomputation for all stages.
//
//   const StrategyPlan plan = price_configuration(
//       instance, {.its = {.pp = 4, .micro_batches = 64}, .layout = {.tp = 8, .dp = 2}});
//   plan.step_ms;  // also if it does not fit the memory: fits() checks that
//
// Thread safety: reads its arguments and nothing else.
#pragma once

#include <cstdint>
#include <vector>

#include "instances/strategy/instance.h"
#include "instances/strategy/plan.h"
#include "instances/strategy/planning_table.h"

namespace stowage {

struct StrategyConfiguration {
  StrategyClass its;
  StrategyLayout layout;
  StageChoice choice;
};

// Returns the layers of each of `stages` stages. A remainder goes to stages behind the first. If
// embedding and head make the layers a multiple of the stages, these two count as layers. Requires
// 1 to `layers` stages.
std::vector<std::int64_t> dealt_layers(std::int64_t layers, std::int64_t stages);

// Returns the plan of a configuration, with an empty hash. Requires a valid instance, at most as
// many stages as layers, and positive degrees; if layers differ, one chunk per stage. The
// configuration may leave the options of the instance, and its degrees need not divide anything.
StrategyPlan price_configuration(const StrategyInstance& instance,
                                 const StrategyConfiguration& configuration);

}  // namespace stowage
