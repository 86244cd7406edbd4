#include "instances/strategy/plan_builder.h"

#include <algorithm>
#include <string>

#include "instances/numeric/numbers.h"

namespace stowage {

std::string recompute_text(const StrategyStage& stage) {
  const auto index = static_cast<std::size_t>(stage.recompute);
  std::string text = index < kStrategyRecomputes.size() ? std::string(kStrategyRecomputes[index])
                                                        : "unknown (" + std::to_string(index) + ')';
  if (stage.stream_chunks > 1) text += " in " + std::to_string(stage.stream_chunks) + " chunks";
  if (stage.offload > 0) text += ", " + percent_text(stage.offload) + " of activations on the host";
  return text;
}

StrategyPlan compose_strategy(const StageCosts& costs, std::span<const StagePlan> stages) {
  const StrategyTable& table = costs.table();
  StrategyPlan plan{.name = table.instance().name,
                    .pp = costs.of_class().pp,
                    .v = costs.of_class().v,
                    .micro_batches = costs.of_class().micro_batches,
                    .tp = costs.layout().tp,
                    .cp = costs.layout().cp,
                    .cp_exchange = costs.layout().cp_exchange,
                    .dp = costs.layout().dp,
                    .ep = costs.layout().ep,
                    .shard = costs.layout().shard,
                    .logit_chunks = table.logit_chunks().back()};
  std::vector<StageCost> of_stages;
  std::int64_t first = 0;
  for (const StagePlan& stage : stages) {
    const StageCost cost = costs.of(std::ssize(of_stages), first, stage.layers, stage.choice);
    of_stages.push_back(cost);
    plan.stages.push_back({.layers = stage.layers,
                           .zero = stage.choice.zero,
                           .recompute = stage.choice.recompute,
                           .stream_chunks = stage.choice.stream_chunks,
                           .time_ms = cost.time_ms,
                           .longest_ms = cost.longest_ms,
                           .exchange_ms = cost.exchange_ms,
                           .memory_mib = cost.memory_mib,
                           .update_ms = cost.update_ms,
                           .offload = cost.offload});
    first += stage.layers;
  }
  plan.step_ms = costs.step(of_stages);
  // Takes fewer chunks if they fit.
  Mib& last = plan.stages.back().memory_mib;
  const Mib most_chunks = costs.logits_mib(plan.logit_chunks);
  for (const std::int64_t chunks : table.logit_chunks()) {
    const Mib with = last - most_chunks + costs.logits_mib(chunks);
    if (chunks < plan.logit_chunks && with > table.instance().cluster.memory_mib) continue;
    if (chunks < plan.logit_chunks) last = with;
    plan.logit_chunks = chunks;
    break;
  }
  return plan;
}

bool fits(const StrategyInstance& instance, const StrategyPlan& plan) {
  return std::ranges::all_of(plan.stages, [&](const StrategyStage& stage) {
    return stage.memory_mib <= instance.cluster.memory_mib;
  });
}

}  // namespace stowage
