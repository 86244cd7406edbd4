#include "instances/strategy/cost/schedules.h"

#include <algorithm>

#include "instances/strategy/cost/stage_costs.h"
#include "instances/strategy/planning_table.h"

namespace stowage {
namespace {

constexpr std::int64_t kMostPasses = 2'000'000;

struct StageView {
  PassTimes times;
  Mib memory_mib = 0;
  double in_flight = 0;     // micro-batches
  double uneven = 0;        // of these, the correction for a chunk with one layer less
  Mib micro_batch_mib = 0;  // activations of one micro-batch
};

std::vector<StageView> stages_of(const StrategyInstance& instance, const StrategyPlan& plan) {
  const StrategyTable table(instance);
  const StageCosts costs(table, {.pp = plan.pp, .v = plan.v, .micro_batches = plan.micro_batches},
                         layout_of(plan));
  std::vector<StageView> stages;
  std::int64_t first = 0;
  for (std::int64_t s = 0; s < plan.pp; ++s) {
    const StrategyStage& stage = plan.stages[at(s)];
    const StageChoice choice = choice_of(stage);
    stages.push_back({.times = costs.passes(s, first, stage.layers, choice),
                      .memory_mib = stage.memory_mib,
                      .in_flight = costs.in_flight(s, stage.layers),
                      .uneven = costs.in_flight(s, stage.layers) - costs.in_flight(s, plan.v),
                      .micro_batch_mib = costs.micro_batch_mib(s, first, stage.layers, choice)});
    first += stage.layers;
  }
  return stages;
}

StrategySchedule run_schedule(const std::vector<StageView>& stages, std::int64_t micro_batches,
                              std::int64_t chunks, PassSchedule schedule) {
  std::vector<PassTimes> row;
  for (std::int64_t c = 0; c < chunks; ++c) {
    for (const StageView& stage : stages) {
      const auto share = static_cast<double>(chunks);
      row.push_back({.forward = stage.times.forward / share,
                     .backward = stage.times.backward / share,
                     .weights = stage.times.weights / share});
    }
  }
  StrategySchedule its{.pipeline = {.stages = static_cast<int>(stages.size()),
                                    .chunks = static_cast<int>(chunks),
                                    .schedule = schedule,
                                    .rows = std::vector(at(micro_batches), row)}};
  its.run = simulate_passes(its.pipeline);
  for (std::size_t s = 0; s < stages.size(); ++s) {
    const double held = static_cast<double>(its.run.held[s]) / static_cast<double>(chunks) +
                        (chunks > 1 ? stages[s].uneven : 0);
    its.memory_mib = std::max(its.memory_mib, stages[s].memory_mib + (held - stages[s].in_flight) *
                                                                         stages[s].micro_batch_mib);
  }
  return its;
}

}  // namespace

std::optional<std::vector<StrategySchedule>> strategy_schedules(const StrategyInstance& instance,
                                                                const StrategyPlan& plan) {
  if (plan.pp == 1 || 3 * plan.micro_batches > kMostPasses / (plan.pp * plan.v)) {
    return std::nullopt;
  }
  const std::vector<StageView> stages = stages_of(instance, plan);
  const PassSchedule planned = plan.v > 1 ? PassSchedule::interleaved : PassSchedule::one_f_one_b;
  std::vector<StrategySchedule> all;
  all.push_back(run_schedule(stages, plan.micro_batches, plan.v, planned));
  for (const PassSchedule schedule : {PassSchedule::zb_h1, PassSchedule::zb_h2}) {
    all.push_back(run_schedule(stages, plan.micro_batches, 1, schedule));
  }
  return all;
}

}  // namespace stowage
