#include "heuristics/order/registry.h"

#include <algorithm>
#include <utility>

#include "heuristics/order/order_lns.h"
#include "heuristics/order/orders.h"
#include "heuristics/order/recompute/offload.h"
#include "heuristics/order/recompute/reruns.h"
#include "instances/order/memory/running_memory.h"
#include "instances/order/plan_builder.h"

namespace stowage {
namespace {

using Params = OrderHeuristicParams;

std::vector<int> fast(const OrderTable& table, const Params& params, const Budget& budget) {
  std::vector<int> order = best_simple_order(table);
  const std::int64_t states = params.fast.states;
  OrderLns(table, params.stretches)
      .improve(order,
               {.states = states,
                .widest = params.fast.width,
                .all_states = order_fixed::kFastStretches * states},
               budget);
  return order;
}

std::vector<int> lns(const OrderTable& table, const Params& params, const Budget& budget) {
  std::vector<int> order = best_simple_order(table);
  OrderLns windows(table, params.stretches);
  int width = params.stretches.width;
  std::int64_t states = params.stretches.states;
  const std::int64_t all = order_fixed::kLnsStretches * states;
  for (int round = 0; round < order_fixed::kLnsRounds && !budget.exhausted(); ++round) {
    windows.improve(order, {.states = states, .widest = width, .all_states = all}, budget);
    width *= 2;
    states *= order_fixed::kLnsGrowth;
  }
  return order;
}

// Returns a lower bound on the peak of every plan: the most that one operator touches and writes.
Bytes least_of_any(const OrderTable& table) {
  Bytes least = std::max(table.at_start(), table.at_end());
  for (int op = 0; op < table.operators(); ++op) {
    Bytes need = table.need(op);
    for (const int t : table.touched(op)) need += table.size(t);
    least = std::max(least, need);
  }
  return least;
}

std::optional<std::vector<int>> evicted(const OrderInstance& instance, const OrderTable& table,
                                        const Params& params, const Budget& budget) {
  const std::vector<int> order = best_simple_order(table);
  if (instance.objective == OrderObjective::time) {
    if (!instance.capacity) return order;
    return evicted_within(table, order, *instance.capacity, budget, params.eviction);
  }
  return evicted_to(table, order, least_of_any(table), budget, params.eviction);
}

// Returns a plan that is at least as good as evicted() without a host.
std::optional<OrderPlan> offloaded(const OrderInstance& instance, const OrderTable& table,
                                   const Params& params, const Budget& budget) {
  const std::vector<int> order = best_simple_order(table);
  Offload offload(instance, table, params);
  std::optional<OrderPlan> best;
  const auto keep = [&](OrderPlan plan) {
    const bool fits = !instance.capacity || plan.peak_bytes <= *instance.capacity;
    if (fits && (!best || objective_of(plan) < objective_of(*best))) best = std::move(plan);
  };
  if (const auto steps = evicted(instance, table, params, budget)) {
    keep(compose_order(instance, table, *steps));
  }
  if (instance.objective == OrderObjective::peak) {
    const OffloadPlan low = offload.lowest(order, least_of_any(table), budget);
    keep(compose_order(instance, table, low.steps, low.transfers));
  } else if (instance.capacity) {
    if (const auto plan = offload.within(order, *instance.capacity, budget)) {
      keep(compose_order(instance, table, plan->steps, plan->transfers));
    }
  }
  return best;
}

std::optional<std::vector<int>> walked(const OrderInstance& instance, const OrderTable& table,
                                       const Params& params, std::uint64_t seed,
                                       const Budget& budget) {
  std::optional<std::vector<int>> steps = evicted(instance, table, params, budget);
  if (!steps) return steps;
  const RerunWalk::Goal goal{.capacity = instance.capacity.value_or(kMaxExact),
                             .time = instance.objective == OrderObjective::time,
                             .least = least_of_any(table)};
  RerunWalk(table, seed, params).improve(*steps, goal, params.walk.plans, budget);
  return steps;
}

}  // namespace

std::vector<int> best_simple_order(const OrderTable& table) {
  std::vector<int> best = table.program_order();
  Bytes peak = peak_of(table, best);
  const auto keep = [&](std::vector<int> order) {
    const Bytes its = peak_of(table, order);
    if (its >= peak) return;
    best = std::move(order);
    peak = its;
  };
  keep(commit_order(table, table.program_order()));
  std::vector<int> list = list_order(table);
  std::vector<int> deep = depth_first_order(table);
  keep(commit_order(table, list));
  keep(std::move(list));
  keep(commit_order(table, deep));
  keep(std::move(deep));
  return best;
}

std::vector<OrderHeuristic> heuristics(const OrderInstance& wanted, const Params& params) {
  std::vector<OrderHeuristic> all;
  const auto kept = [](const OrderInstance& instance, const OrderTable& table,
                       const std::vector<int>& steps) -> std::optional<OrderPlan> {
    OrderPlan plan = compose_order(instance, table, steps);
    if (instance.capacity && plan.peak_bytes > *instance.capacity) return std::nullopt;
    return plan;
  };
  const auto add = [&](std::string name, std::string summary, std::string source, auto make) {
    all.push_back({std::move(name), std::move(summary), std::move(source),
                   [make, kept](const OrderInstance& instance, const OrderTable& table,
                                std::uint64_t, const Budget& budget) {
                     return kept(instance, table, make(table, budget));
                   }});
  };
  add("program", "the order of the list", "frameworks that run a graph as it was written",
      [](const OrderTable& table, const Budget&) { return table.program_order(); });
  add("list", "what frees most next", "XLA, hlo_memory_scheduler.cc, ListScheduler",
      [](const OrderTable& table, const Budget&) { return list_order(table); });
  add("dfs", "depth first, heavy subtrees before light ones",
      "XLA, hlo_memory_scheduler.cc, DFSMemoryScheduler",
      [](const OrderTable& table, const Budget&) { return depth_first_order(table); });
  add("online", "first ready, first served", "executors of data-flow runtimes (TensorFlow)",
      [](const OrderTable& table, const Budget&) { return online_order(table); });
  add("commit", "the order of the list, but what raises nothing runs at once", "",
      [](const OrderTable& table, const Budget&) {
        return commit_order(table, table.program_order());
      });
  all.push_back({"fast",
                 "the best of these, with commits, and short stretches around the peak; what may "
                 "run again or go to a host does where the capacity asks for it",
                 "",
                 [kept, params](const OrderInstance& instance, const OrderTable& table,
                                std::uint64_t, const Budget& budget) -> std::optional<OrderPlan> {
                   if (auto plan = kept(instance, table, fast(table, params, budget))) return plan;
                   if (table.host()) return offloaded(instance, table, params, budget);
                   if (!table.recomputes()) return std::nullopt;
                   const auto steps = evicted(instance, table, params, budget);
                   return steps ? kept(instance, table, *steps) : std::nullopt;
                 }});
  add("lns", "the best of these, then longer and longer stretches around the peak again", "",
      [params](const OrderTable& table, const Budget& budget) {
        return lns(table, params, budget);
      });
  if (wanted.host) {
    all.push_back(
        {"offload",
         "the best of the orders of one pass, with what is in the way on the host, or "
         "made again where that costs less",
         "",
         [params](const OrderInstance& instance, const OrderTable& table, std::uint64_t,
                  const Budget& budget) { return offloaded(instance, table, params, budget); }});
  }
  if (std::ranges::none_of(wanted.operators, &OrderOperator::recompute)) return all;
  all.push_back({"evict", "the best of the orders of one pass, with what is in the way made again",
                 "",
                 [kept, params](const OrderInstance& instance, const OrderTable& table,
                                std::uint64_t, const Budget& budget) -> std::optional<OrderPlan> {
                   const auto steps = evicted(instance, table, params, budget);
                   return steps ? kept(instance, table, *steps) : std::nullopt;
                 }});
  all.push_back(
      {"walk", "the same, then around it with other choices", "",
       [kept, params](const OrderInstance& instance, const OrderTable& table, std::uint64_t seed,
                      const Budget& budget) -> std::optional<OrderPlan> {
         const auto steps = walked(instance, table, params, seed, budget);
         return steps ? kept(instance, table, *steps) : std::nullopt;
       }});
  return all;
}

}  // namespace stowage
