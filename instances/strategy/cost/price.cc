#include "instances/strategy/cost/price.h"

#include "instances/numeric/numbers.h"
#include "instances/strategy/cost/stage_costs.h"
#include "instances/strategy/plan_builder.h"

namespace stowage {

std::vector<std::int64_t> dealt_layers(std::int64_t layers, std::int64_t stages) {
  std::vector<std::int64_t> dealt(at(stages), layers / stages);
  const std::int64_t left = layers % stages;
  if (left == 0) return dealt;
  if (stages > 2 && (layers + 2) % stages == 0) {  // as in Llama 3 405B: 126 layers on 8 stages
    for (std::int64_t s = 1; s + 1 < stages; ++s) ++dealt[at(s)];
    return dealt;
  }
  for (std::int64_t k = 0; k < left; ++k) ++dealt[at((k + 1) % stages)];
  return dealt;
}

StrategyPlan price_configuration(const StrategyInstance& instance,
                                 const StrategyConfiguration& configuration) {
  const StrategyTable table(instance);
  const StageCosts costs(table, configuration.its, configuration.layout);
  std::vector<StagePlan> stages;
  for (const std::int64_t layers : dealt_layers(table.layers(), configuration.its.pp)) {
    stages.push_back({layers, configuration.choice});
  }
  return compose_strategy(costs, stages);
}

}  // namespace stowage
