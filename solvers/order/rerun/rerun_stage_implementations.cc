#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "formulations/order/checkmate.h"
#include "heuristics/order/registry.h"
#include "instances/order/memory/running_memory.h"
#include "instances/order/plan_builder.h"
#include "solvers/milp/solver.h"
#include "solvers/order/refutation.h"
#include "solvers/order/stage_implementations.h"

namespace stowage {
namespace {

// Returns true if the search proves bounds. The search ignores the host, so with a host it proves
// nothing.
bool bounded_by_search(const RerunContext& context) { return !context.instance.host; }

RerunSearch::Found searched(RerunContext& context, Bytes most, Ms below) {
  if (!context.search) context.search.emplace(context.table);
  RerunSearch::Found found = context.search->run(
      most, below, states_of_round(context.params, context.round), context.budget);
  context.budget.count_nodes(found.states);
  if (found.end == RerunSearch::End::found) context.take(found.steps, 'L', "search");
  return found;
}

// Searches the plans that take less time than the best plan.
void search_time(RerunContext& context) {
  Incumbent<OrderInstance>& incumbent = context.incumbent;
  const Ms below = incumbent.plan() ? objective_of(*incumbent.plan()) : RerunSearch::kNoLimitMs;
  const RerunSearch::Found found = searched(context, context.capacity(), below);
  if (!bounded_by_search(context)) return;
  if (std::isfinite(found.bound_ms)) {
    incumbent.raise_bound({"search", found.bound_ms});
  } else if (!incumbent.plan()) {
    context.refuted = refuted_below("plan", found.least_overflow);
  }
}

// Returns true if a plan within `most` bytes was found. If it is proven that none exists, raises
// the bound.
bool probe(RerunContext& context, Bytes most) {
  const RerunSearch::Found found = searched(context, most, RerunSearch::kNoLimitMs);
  if (found.end == RerunSearch::End::none && bounded_by_search(context)) {
    context.incumbent.raise_bound({"search", static_cast<double>(found.least_overflow)});
    if (found.least_overflow > context.capacity() && !context.incumbent.plan()) {
      context.refuted = refuted_below("plan", found.least_overflow);
    }
  }
  return found.end == RerunSearch::End::found;
}

// Searches below the best peak, then from the bound upwards.
void search_peak(RerunContext& context) {
  const auto& plan = context.incumbent.plan();
  if (!plan) probe(context, context.capacity());
  while (!context.done() && plan && probe(context, plan->peak_bytes - 1)) {
  }
  for (Bytes before = -1; !context.done() && context.bound_bytes() > before;) {
    before = context.bound_bytes();
    probe(context, std::min(before, context.capacity()));
  }
}

}  // namespace

void RerunContext::take(const std::vector<int>& steps, char source, const char* by) {
  if (steps.empty() && table.operators() > 0) return;
  if (peak_of(table, steps) > capacity()) return;
  incumbent.offer(compose_order(instance, table, steps), source, by);
}

namespace rerun_stage {

Ended one_pass(RerunContext& context, Budget& budget) {
  OrderInstance unlimited = context.instance;
  unlimited.capacity.reset();
  const OrderTable& table = context.table;
  context.low = table.program_order();
  for (const OrderHeuristic& heuristic : heuristics(unlimited, context.params.heuristics)) {
    if (budget.exhausted() || heuristic.name == "evict" || heuristic.name == "lns") break;
    const auto plan = heuristic.run(unlimited, table, context.options.seed, budget);
    if (!plan) continue;
    std::vector<int> order(plan->order.begin(), plan->order.end());
    if (peak_of(table, order) < peak_of(table, context.low)) context.low = std::move(order);
  }
  context.take(context.low, 'H', "fast");
  return std::nullopt;
}

Ended evict(RerunContext& context, Budget& budget) {
  const EvictionParams& params = context.params.heuristics.eviction;
  for (const std::vector<int>& order : {context.low, context.table.program_order()}) {
    if (context.done()) return std::nullopt;
    if (!context.timed()) {
      context.take(evicted_to(context.table, order, context.known.kept, budget, params), 'H',
                   "evict");
    } else if (const auto steps =
                   evicted_within(context.table, order, context.capacity(), budget, params)) {
      context.take(*steps, 'H', "evict");
    }
  }
  return std::nullopt;
}

Ended cheap_runs(RerunContext& context, Budget& budget) {
  const EvictionParams& params = context.params.heuristics.eviction;
  const auto take = [&](const std::vector<int>& steps) {
    context.take(steps, 'H', "evict");
    return context.done();
  };
  const auto orders = {context.low, context.table.program_order()};
  for (const std::vector<int>& order : orders) {
    if (context.done()) return std::nullopt;
    tell_cheap_plans(context.table, order, context.capacity(), budget, take, params);
  }
  // The greedy steps towards a lower peak may fit where those towards the capacity do not.
  for (const std::vector<int>& order : orders) {
    if (context.done() || context.incumbent.plan()) return std::nullopt;
    std::vector<int> steps = evicted_to(context.table, order, context.known.kept, budget, params);
    if (peak_of(context.table, steps) > context.capacity()) continue;
    Evictions(context.table, params).drop_needless(steps, context.capacity());
    take(steps);
  }
  return std::nullopt;
}

Ended offload(RerunContext& context, Budget& budget) {
  context.host.emplace(context.instance, context.table, context.known.kept, context.params);
  for (const std::vector<int>& order : {context.low, context.table.program_order()}) {
    if (context.done()) return std::nullopt;
    if (auto plan = context.host->from(order, budget)) {
      context.incumbent.offer(std::move(*plan), 'H', "offload");
    }
  }
  return std::nullopt;
}

Ended offload_walk(RerunContext& context, Budget& budget) {
  if (auto plan = context.host->better(context.options.seed, budget)) {
    context.incumbent.offer(std::move(*plan), 'L', "offload");
  }
  return std::nullopt;
}

Ended walk(RerunContext& context, Budget& budget) {
  const OrderPlan& plan = *context.incumbent.plan();
  const OrderRoundParams& rounds = context.params.rounds;
  if (!context.walk) {
    context.walk.emplace(context.table, context.options.seed, context.params.heuristics);
    context.walk_plans = rounds.plans;
  }
  std::vector<int> steps(plan.order.begin(), plan.order.end());
  const RerunWalk::Goal goal{
      .capacity = context.capacity(), .time = context.timed(), .least = context.bound_bytes()};
  budget.count_nodes(context.walk->improve(steps, goal, context.walk_plans, budget));
  context.take(steps, 'L', "walk");
  context.walk_plans *= rounds.growth;
  return std::nullopt;
}

Ended rerun_search(RerunContext& context, Budget&) {
  context.timed() ? search_time(context) : search_peak(context);
  return std::nullopt;
}

Ended method_heuristic(RerunContext& context, Budget& budget) {
  for (const OrderHeuristic& heuristic : heuristics(context.instance, context.params.heuristics)) {
    if (heuristic.name != context.options.method) continue;
    if (auto plan = heuristic.run(context.instance, context.table, context.options.seed, budget)) {
      context.incumbent.offer(std::move(*plan), 'H', heuristic.name);
    } else {
      context.incumbent.remark(heuristic.name + " has no plan within the capacity");
    }
  }
  return std::nullopt;
}

// The MILP covers plans with the first runs in program order, so its optimum is no bound on other
// plans.
Ended checkmate(RerunContext& context, Budget& budget) {
  Incumbent<OrderInstance>& incumbent = context.incumbent;
  const OrderTable& table = context.table;
  if (built_backends().empty()) {
    incumbent.remark("no MILP backend is built in");
    return StoppedBy::error;
  }
  const std::int64_t most_binaries = context.params.checkmate_binaries;
  if (checkmate_binaries(table) > most_binaries) {
    incumbent.remark("the MILP would have more than " + std::to_string(most_binaries) +
                     " binary variables");
    return std::nullopt;
  }
  const std::vector<int>& order = table.program_order();
  const Bytes most = std::min(peak_of(table, order), context.capacity());
  const Checkmate milp =
      build_checkmate(table, order, {.time = context.timed(), .most = most, .least = 0});
  if (milp.model.variables().empty()) {
    context.take(order, 'H', "program");
    return std::nullopt;
  }
  const SolveOptions& options = context.options;
  Budget part =
      budget.part(options.milp_seconds.value_or(budget.seconds_left()), budget.nodes_left());
  const MilpResult solved =
      solve_milp(backend_of(options), milp.model, {.gap = options.gap, .seed = options.seed}, part);
  if (!solved.detail.empty()) incumbent.remark(solved.detail);
  if (has_point(solved.status)) context.take(decode(milp, solved.values), 'M', "checkmate");
  if (solved.status == MilpStatus::infeasible) {
    incumbent.remark("there is no such plan of the order of the list within the capacity");
  }
  if (part.exhausted()) return StoppedBy::time_limit;
  return std::nullopt;
}

Ended memo(RerunContext& context, Budget& budget) {
  std::string why;
  HostPlans plans(context.instance, context.table, context.known.kept, context.params);
  if (auto plan = plans.memo(context.options, budget, why)) {
    context.incumbent.offer(std::move(*plan), 'M', kMemoSwap.name);
  } else {
    context.incumbent.remark(why);
  }
  return std::nullopt;
}

}  // namespace rerun_stage
}  // namespace stowage
