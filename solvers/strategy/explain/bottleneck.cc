// Computes the bottleneck of a configuration: the slowest stage, the pipeline bubble, exchanges,
// nearly full memory, and any change of one choice or move of layers that would shorten the step.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "instances/numeric/numbers.h"
#include "instances/strategy/cost/stage_costs.h"
#include "instances/strategy/fit/stacks.h"
#include "instances/strategy/json/json.h"
#include "instances/strategy/plan_builder.h"
#include "instances/strategy/planning_table.h"
#include "solvers/strategy/explain/explain.h"
#include "solvers/strategy/explain/rate_switch.h"

namespace stowage {
namespace {

constexpr double kNearlyFull = 0.95;  // share of the device's memory from which a stage is reported

class Bindings {
 public:
  Bindings(const StrategyInstance& instance, const StrategyPlan& plan)
      : instance_(instance),
        plan_(plan),
        table_(instance),
        costs_(table_, {plan.pp, plan.v, plan.micro_batches}, layout_of(plan)) {
    for (std::size_t s = 1; s < plan.stages.size(); ++s) {
      if (plan.stages[s].time_ms > plan.stages[at(slowest_)].time_ms) {
        slowest_ = static_cast<std::int64_t>(s);
      }
    }
  }

  std::vector<Finding> parts() const {
    std::vector<Finding> found;
    const StrategyStage& slowest = plan_.stages[at(slowest_)];
    const Ms busy = static_cast<double>(plan_.micro_batches) * slowest.time_ms;
    found.push_back(
        {place(slowest_), "stage " + std::to_string(slowest_) + " of " +
                              plain_count(slowest.layers, "layer") + " takes " +
                              plain_number(slowest.time_ms) + " ms for each of " +
                              plain_count(plan_.micro_batches, "micro-batch", "micro-batches") +
                              ", " + plain_number(busy) + " ms in all"});
    Ms alone = 0;
    Ms tail = 0;
    for (const StrategyStage& stage : plan_.stages) {
      alone += stage.longest_ms;
      tail = std::max(tail, left(stage));
    }
    const Ms steady = plan_.step_ms - tail;
    if (alone >= steady * (1 - 1e-9)) {
      found.push_back({"/stages", "the longest sequence takes " + plain_number(alone) +
                                      " ms through all stages"});
    } else if (plan_.pp > 1) {
      found.push_back({"/pp", "filling and draining the pipeline takes " +
                                  plain_number(std::max(0.0, steady - busy)) + " ms"});
    }
    if (tail > 0) {
      found.push_back({"/stages", std::string("exchanging gradients and states") +
                                      (instance_.cost.detail ? ", and the optimizer's update, take "
                                                             : " takes ") +
                                      plain_number(tail) + " ms that computing does not hide"});
    }
    for (std::size_t s = 0; s < plan_.stages.size(); ++s) {
      const double away = plan_.stages[s].offload;
      if (away > 0) {
        found.push_back({place(static_cast<std::int64_t>(s)),
                         percent_text(away) + " of the activations of stage " + std::to_string(s) +
                             " are on the host"});
      }
      const Mib mib = plan_.stages[s].memory_mib;
      if (mib < kNearlyFull * instance_.cluster.memory_mib) continue;
      found.push_back({place(static_cast<std::int64_t>(s)),
                       "stage " + std::to_string(s) + " needs " + plain_number(mib) + " of " +
                           plain_number(instance_.cluster.memory_mib) + " MiB"});
    }
    return found;
  }

  Moves moves() const {
    Moves moves;
    const auto attempt = [&](const std::vector<StagePlan>& stages, const std::string& text) {
      const StrategyPlan moved = compose_strategy(costs_, stages);
      ++moves.tried;
      if (!fits(instance_, moved)) return;
      const Ms gain = plan_.step_ms - moved.step_ms;
      if (gain <= moves.best_gain) return;
      moves.best_gain = gain;
      moves.best_text = text;
    };
    const std::vector<StagePlan> now = stages();
    for (const StageChoice& choice : costs_.choices()) {
      std::vector<StagePlan> changed = now;
      changed[at(slowest_)].choice = choice;
      attempt(
          changed,
          "ZeRO " + std::to_string(choice.zero) + " and " +
              std::string(kStrategyRecomputes[static_cast<std::size_t>(choice.recompute)]) +
              " recomputation" +
              (choice.stream_chunks > 1 ? " in " + std::to_string(choice.stream_chunks) + " chunks"
                                        : "") +
              " in stage " + std::to_string(slowest_));
    }
    for (std::int64_t to = 0; to < plan_.pp; ++to) {
      std::vector<StagePlan> changed = now;
      changed[at(slowest_)].layers -= plan_.v;
      changed[at(to)].layers += plan_.v;
      if (to == slowest_ || !costs_.may_have(slowest_, changed[at(slowest_)].layers) ||
          !costs_.may_have(to, changed[at(to)].layers)) {
        continue;
      }
      attempt(changed, "move " + plain_count(plan_.v, "layer") + " from stage " +
                           std::to_string(slowest_) + " to stage " + std::to_string(to));
    }
    return moves;
  }

 private:
  static std::string place(std::int64_t stage) { return "/stages/" + std::to_string(stage); }

  Ms left(const StrategyStage& stage) const {
    return exposed_ms(stage, instance_.cost, stage.time_ms);
  }

  std::vector<StagePlan> stages() const {
    std::vector<StagePlan> all;
    for (const StrategyStage& stage : plan_.stages) {
      all.push_back({stage.layers, choice_of(stage)});
    }
    return all;
  }

  const StrategyInstance& instance_;
  const StrategyPlan& plan_;
  const StrategyTable table_;
  const StageCosts costs_;
  std::int64_t slowest_ = 0;
};

std::string configuration_text(const StrategyPlan& plan) {
  const StrategyStage& first = plan.stages.front();
  return "pp " + std::to_string(plan.pp) + ", v " + std::to_string(plan.v) + ", " +
         plain_count(plan.micro_batches, "micro-batch", "micro-batches") + ", tp " +
         std::to_string(plan.tp) + ", cp " + std::to_string(plan.cp) + ", dp " +
         std::to_string(plan.dp) + sharing_text(plan) + ", ZeRO " + std::to_string(first.zero) +
         ", recomputation " + recompute_text(first);
}

// Returns the source of the rates, and for each rate the least change that makes another
// configuration faster.
std::vector<Finding> assumptions_of(const StrategyInstance& instance, const StrategyPlan& plan) {
  std::vector<Finding> found = {{"/cost/rates", "rates are " + rate_text(rate_report(instance))}};
  if (!fits(instance, plan)) return found;
  const RateSwitches switches = rate_switches(instance, plan);
  for (const RateSwitch& each : switches.changes) {
    found.push_back({each.pointer, "from " + plain_number(each.from) + " to " +
                                       plain_number(each.to) + ", " +
                                       percent_text(each.factor() - 1) + ", " +
                                       configuration_text(each.other) + " is the faster one"});
  }
  if (switches.faster) {
    found.push_back({"/cost", configuration_text(*switches.faster) +
                                  " is faster with these rates: " +
                                  plain_number(switches.faster->step_ms) + " ms"});
  } else if (switches.changes.empty()) {
    found.push_back({"/cost",
                     "no other configuration becomes the fastest where one rate alone "
                     "changes by a factor of up to " +
                         plain_number(kMaxRateFactor)});
  }
  return found;
}

}  // namespace

Bottleneck binding_of(const StrategyInstance& instance, const StrategyPlan& plan) {
  const Bindings bindings(instance, plan);
  return {.parts = bindings.parts(),
          .moves = bindings.moves(),
          .assumptions = assumptions_of(instance, plan)};
}

std::vector<Change> changes_of(const StrategyInstance& instance, const StrategyPlan& plan) {
  std::vector<Change> changes;
  const auto add = [&](const char* where, const std::string& what, double from, double to,
                       auto change) {
    StrategyInstance changed = instance;
    change(changed);
    changes.push_back({where,
                       "raise " + what + " from " + plain_number(from) + " to " + plain_number(to),
                       std::move(changed), std::nullopt});
  };
  const StrategyCluster& cluster = instance.cluster;
  const Mib more = cluster.memory_mib + a_little_of(cluster.memory_mib);
  add("/cluster/memory_mib", "cluster.memory_mib", cluster.memory_mib, more,
      [&](StrategyInstance& changed) { changed.cluster.memory_mib = more; });
  if (cluster.offload) {  // with more memory less leaves for the host
    const StrategyOffload& rates = *cluster.offload;
    add("/cluster/offload/out_mib_per_ms", "cluster.offload.out_mib_per_ms", rates.out_mib_per_ms,
        2 * rates.out_mib_per_ms,
        [](StrategyInstance& changed) { changed.cluster.offload->out_mib_per_ms *= 2; });
    add("/cluster/offload/in_mib_per_ms", "cluster.offload.in_mib_per_ms", rates.in_mib_per_ms,
        2 * rates.in_mib_per_ms,
        [](StrategyInstance& changed) { changed.cluster.offload->in_mib_per_ms *= 2; });
    if (const auto& host = rates.host_mib) {
      add("/cluster/offload/host_mib", "cluster.offload.host_mib", *host, 2 * *host,
          [](StrategyInstance& changed) { *changed.cluster.offload->host_mib *= 2; });
    }
  } else {
    StrategyPlan start = plan;
    start.instance_hash = instance_hash(std::get<StrategyInstance>(changes.back().instance));
    changes.back().start = Plan(std::move(start));
  }
  add("/cluster/mib_per_ms/inside", "cluster.mib_per_ms.inside", cluster.mib_per_ms.inside,
      2 * cluster.mib_per_ms.inside,
      [](StrategyInstance& changed) { changed.cluster.mib_per_ms.inside *= 2; });
  if (cluster.nodes > 1) {
    add("/cluster/mib_per_ms/across", "cluster.mib_per_ms.across", cluster.mib_per_ms.across,
        2 * cluster.mib_per_ms.across,
        [](StrategyInstance& changed) { changed.cluster.mib_per_ms.across *= 2; });
  }
  return changes;
}

}  // namespace stowage
