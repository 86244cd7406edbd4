#include "solvers/strategy/stage_implementations.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "formulations/strategy/bounds.h"
#include "formulations/strategy/thresholds.h"
#include "heuristics/strategy/registry.h"
#include "instances/numeric/numbers.h"
#include "instances/numeric/tolerances.h"
#include "instances/strategy/cost/stage_costs.h"
#include "instances/strategy/plan_builder.h"
#include "solvers/explain/family_explain.h"
#include "solvers/milp/backends.h"
#include "solvers/strategy/mip_solve.h"
#include "solvers/strategy/stage_search.h"
#include "solvers/strategy/uniap_solve.h"

namespace stowage::strategy_stage {
namespace {

// Raises the bound to the bound of the certificate. If no configuration fits, the bound is
// infinite: the stage `memory` refutes the instance, and without this stage nothing is claimed.
void raise_certified(StrategyContext& context) {
  StrategyCertificate& certificate = *context.certificate;
  Incumbent<StrategyInstance>& incumbent = context.incumbent;
  if (incumbent.plan()) {
    // Rounding must neither lift the bound above the objective nor leave it just below.
    const Ms known = incumbent.plan()->step_ms;
    if (certificate.bound_ms >= known * (1 - kBoundMeets)) certificate.bound_ms = known;
  }
  if (!incumbent.plan() && certificate.bound_ms == kInfinity) return;
  const bool cases =
      std::ranges::any_of(certificate.classes, &StrategyCertificate::Class::thresholds);
  incumbent.raise_bound({cases ? "thresholds" : "prices", certificate.bound_ms});
}

// Result of searching one class and layout.
struct Searched {
  // stages of a faster plan than the known one; empty if none was found
  std::vector<StagePlan> stages;
  Ms bound = kInfinity;  // lower bound in ms on the plans that the search left out
  bool complete = true;
};

// Searches classes and layouts, the most promising first, until no class can have a faster plan
// than the incumbent. `run` searches one class and layout.
template <class Run>
void search_classes(StrategyContext& context, char source, const std::string& by, Run run) {
  struct Open {
    Ms bound;
    StageCosts costs;
  };
  const StrategyTable& table = context.table;
  Incumbent<StrategyInstance>& incumbent = context.incumbent;
  std::vector<Open> open;
  const auto target = [&] { return incumbent.plan() ? incumbent.plan()->step_ms : kInfinity; };
  for (const StrategyClass& its : table.classes()) {
    if (its.pp == 1 && incumbent.plan()) continue;  // the heuristic tried all plans of one stage
    const std::vector<double> prices(at(its.pp), 1 / static_cast<double>(its.pp));
    for (const StrategyLayout& layout : table.layouts(its)) {
      if (context.budget.exhausted()) return;
      const StageCosts costs(table, its, layout);
      if (costs.area() >= target()) continue;
      const Ms bound = priced_bound(costs, prices);
      if (bound < target()) open.push_back({bound, costs});
    }
  }
  std::ranges::stable_sort(open, {}, &Open::bound);
  Ms left = kInfinity;  // lower bound in ms on the plans that the searches left out
  for (const Open& each : open) {
    if (each.bound >= target()) break;
    Searched found = run(each.costs, target());
    if (!found.stages.empty()) {
      incumbent.offer(compose_strategy(each.costs, found.stages), source, by);
      if (context.certificate) raise_certified(context);
    }
    left = std::min(left, std::max(found.bound, each.bound));
    if (found.complete) continue;
    incumbent.raise_bound({by, std::min(left, target())});
    return;
  }
  if (incumbent.plan()) incumbent.raise_bound({by, std::min(left, target())});
}

}  // namespace

Ended heuristic(StrategyContext& context, Budget& budget) {
  const std::string& method = context.options.method;
  const bool whole = method == "auto" || method == "exact" || method == "mip";
  const std::string wanted = whole ? "fast" : method;
  for (const StrategyHeuristic& each : heuristics(context.instance)) {
    if (each.name != wanted) continue;
    if (auto plan = each.run(context.instance, context.table, context.options.seed, budget)) {
      context.incumbent.offer(*std::move(plan), 'H', each.name);
    } else {
      context.incumbent.remark(each.name + " has no configuration that fits");
    }
  }
  return std::nullopt;
}

Ended memory(StrategyContext& context, Budget&) {
  const LeastMemory least = least_memory(context.table);
  if (least.mib <= context.instance.cluster.memory_mib) return std::nullopt;
  context.refuted = Refutation{"stage " + std::to_string(least.stage) + " of " +
                                   std::to_string(least.of_class.pp) + " needs " +
                                   std::to_string(static_cast<std::int64_t>(std::ceil(least.mib))) +
                                   " MiB with " + plain_count(least.layers, "layer") +
                                   " in the configuration that needs least",
                               "raise cluster.memory_mib to at least " + shortest(least.mib),
                               {},
                               {.by = "configurations"}};
  return StoppedBy::proof;
}

Ended thresholds(StrategyContext& context, Budget& budget) {
  context.certificate = equal_prices(context.table, budget);
  if (!context.certificate) return std::nullopt;
  const auto& plan = context.incumbent.plan();
  if (plan && context.certificate->bound_ms < plan->step_ms) {
    sharpen(context.table, *context.certificate, plan->step_ms, budget, context.params.prices);
  }
  raise_certified(context);
  return std::nullopt;
}

Ended prices(StrategyContext& context, Budget& budget) {
  context.certificate = equal_prices(context.table, budget);
  if (context.certificate) raise_certified(context);
  return std::nullopt;
}

Ended search(StrategyContext& context, Budget& budget) {
  search_classes(context, 'L', "search", [&](const StageCosts& costs, Ms below) -> Searched {
    StageSearch labels(costs);
    StageSearch::Answer answer = labels.run(below, budget);
    return {std::move(answer.stages), answer.complete ? kInfinity : 0, answer.complete};
  });
  return std::nullopt;
}

Ended mip(StrategyContext& context, Budget& budget) {
  if (built_backends().empty()) {
    context.incumbent.remark("no MILP backend is built in");
    return StoppedBy::error;
  }
  const MilpBackend backend = backend_of(context.options);
  search_classes(context, 'M', "mip-" + std::string(name(backend)),
                 [&](const StageCosts& costs, Ms below) -> Searched {
                   StrategyMipResult found =
                       solve_strategy_mip(costs,
                                          {.backend = backend,
                                           .below = below,
                                           .seed = context.options.seed,
                                           .most_binaries = context.params.mip.binaries},
                                          budget);
                   if (!found.detail.empty()) context.incumbent.remark(found.detail);
                   return {std::move(found.stages), found.bound, found.complete};
                 });
  return std::nullopt;
}

Ended uniap(StrategyContext& context, Budget& budget) {
  Incumbent<StrategyInstance>& incumbent = context.incumbent;
  if (built_backends().empty()) {
    incumbent.remark("no MILP backend is built in");
    return StoppedBy::error;
  }
  const SolveOptions& options = context.options;
  StrategyInstance plain = context.instance;  // UniAP knows no offload
  plain.cluster.offload.reset();
  UniapResult found = solve_uniap(StrategyTable(plain),
                                  {.backend = backend_of(options),
                                   .milp_seconds = options.milp_seconds.value_or(kMilpSeconds),
                                   .seed = options.seed},
                                  budget);
  if (found.plan) {
    incumbent.offer(*std::move(found.plan), 'M', "uniap");
  } else {
    incumbent.remark("uniap has no configuration that fits");
  }
  if (found.unsolved > 0) {
    incumbent.remark(std::to_string(found.unsolved) + " of its MILPs did not end" +
                     (found.detail.empty() ? "" : ": " + found.detail));
  }
  return std::nullopt;
}

}  // namespace stowage::strategy_stage
