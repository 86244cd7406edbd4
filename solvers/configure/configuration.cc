#include "solvers/configure/configuration.h"

#include <algorithm>

namespace stowage {

bool is_uniform(const StrategyPlan& plan) {
  return std::ranges::all_of(plan.stages, [&](const StrategyStage& stage) {
    return stage.zero == plan.stages.front().zero &&
           stage.recompute == plan.stages.front().recompute &&
           stage.stream_chunks == plan.stages.front().stream_chunks;
  });
}

std::string configuration_name(const StrategyPlan& plan) {
  const StrategyStage& stage = plan.stages.front();
  return "pp " + std::to_string(plan.pp) + ", v " + std::to_string(plan.v) + ", tp " +
         std::to_string(plan.tp) + sharing_text(plan) + ", ZeRO " + std::to_string(stage.zero) +
         ", " + recompute_text(stage);
}

}  // namespace stowage
