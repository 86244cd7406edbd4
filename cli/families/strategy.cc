#include "cli/families/strategy.h"

#include <algorithm>
#include <numeric>

#include "cli/families/method_names.h"
#include "cli/flags/suggest.h"
#include "instances/numeric/numbers.h"
#include "instances/strategy/cost/schedules.h"
#include "instances/strategy/fit/stacks.h"
#include "instances/strategy/planning_table.h"
#include "instances/strategy/verify/exhaustive_check.h"
#include "solvers/strategy/explain/explain.h"

namespace stowage {
namespace {

// Returns, for instance, "1F1B 812.3 ms, 60123 MiB": the end of the last pass and the memory of the
// heaviest stage.
std::string text_of(const StrategySchedule& its, Mib memory) {
  const auto kind = static_cast<std::size_t>(its.pipeline.schedule);
  return std::string(kPassScheduleNames[kind]) + ' ' + ms_text(its.run.end) + " ms, " +
         ms_text(its.memory_mib) + " MiB" + (its.memory_mib > memory ? " (does not fit)" : "");
}

}  // namespace

std::string size_of(const StrategyInstance& instance) {
  std::int64_t layers = 0;
  for (const StrategyBlock& block : instance.model.blocks) layers += block.count;
  const Tokens tokens =
      std::accumulate(instance.lengths.begin(), instance.lengths.end(), Tokens{0});
  return counted(layers, "layer") + ", " + counted(std::ssize(instance.lengths), "sequence") +
         ", " + counted(tokens, "token") + ", " + counted(instance.cluster.devices(), "device");
}

std::string detail_of(const StrategyPlan& plan) {
  return "pp " + std::to_string(plan.pp) + ", v " + std::to_string(plan.v) + ", " +
         counted(plan.micro_batches, "micro-batch", "micro-batches") + ", tp " +
         std::to_string(plan.tp) + ", cp " + std::to_string(plan.cp) + ", dp " +
         std::to_string(plan.dp) + sharing_text(plan);
}

std::vector<std::pair<std::string, std::string>> facts_of(const StrategyInstance& instance,
                                                          const StrategyPlan& plan) {
  Ms sum = 0;
  Ms slowest = 0;
  Ms tail = 0;
  Mib most = 0;
  for (const StrategyStage& stage : plan.stages) {
    sum += stage.time_ms;
    slowest = std::max(slowest, stage.time_ms);
    tail = std::max(tail, exposed_ms(stage, instance.cost, stage.time_ms));
    most = std::max(most, stage.memory_mib);
  }
  const auto stages = static_cast<double>(plan.stages.size());
  const Ms busy = static_cast<double>(plan.micro_batches) * sum / stages;
  std::vector<std::pair<std::string, std::string>> facts = {
      {"configuration", detail_of(plan)},
      {"stages are busy", percent_text(plan.step_ms > 0 ? busy / plan.step_ms : 0)},
      {instance.cost.detail ? "exchange not hidden, and update" : "exchange not hidden",
       ms_text(tail) + " ms"},
      {"rates", rate_text(rate_report(instance))},
      {"most memory", ms_text(most) + " of " + ms_text(instance.cluster.memory_mib) + " MiB"}};
  if (const auto schedules = strategy_schedules(instance, plan)) {
    std::string text;
    for (const StrategySchedule& its : *schedules) {
      text += (text.empty() ? "" : "; ") + text_of(its, instance.cluster.memory_mib);
    }
    facts.emplace_back("pass by pass, simulated", std::move(text));
  }
  return facts;
}

std::string method_list_of(StrategyFamily) {
  const StrategyInstance one{.model = {.blocks = {{.ffn = 1}}}, .lengths = {1}};
  return comma_list(method_names(one));
}

std::vector<NamedBound> closed_form_bounds_of(const StrategyInstance& instance) {
  const StrategyTable table(instance);
  if (table.classes().empty()) return {};
  return {{"work", work_bound(table)}};
}

std::optional<NamedBound> tried_again_of(const StrategyInstance& instance, double) {
  const std::optional<Ms> least = least_step(instance);
  if (!least || *least == kInfinity) return std::nullopt;
  return NamedBound{"search", *least};
}

std::vector<std::string> infeasibility_of(const StrategyInstance& instance,
                                          const std::vector<std::int64_t>&) {
  const LeastMemory least = least_memory(StrategyTable(instance));
  if (least.mib == kInfinity) {
    return {"no values of the options combine: pp tp cp must divide the " +
            counted(instance.cluster.devices(), "device") + ", and what is left of them, dp, the " +
            counted(std::ssize(instance.lengths), "sequence") + rule_of_ep(instance)};
  }
  if (least.mib <= instance.cluster.memory_mib) return {};
  return {"every configuration has a stage that needs " + ms_text(least.mib) + " MiB or more"};
}

}  // namespace stowage
