#include "solvers/order/stage_implementations.h"

#include <algorithm>
#include <string>
#include <utility>

#include "heuristics/order/orders.h"
#include "heuristics/order/registry.h"
#include "instances/order/memory/running_memory.h"
#include "instances/order/plan_builder.h"
#include "solvers/order/refutation.h"

namespace stowage {
namespace {

std::int64_t round_states(const OrderContext& context) {
  return states_of_round(context.params, context.round);
}

OrderLns::Effort effort_of_round(const OrderContext& context) {
  const std::int64_t left = context.budget.nodes_left();
  return {.goal = context.bound(),
          .states = std::min(round_states(context), left),
          .widest = context.params.heuristics.stretches.width << context.round,
          .all_states = left};
}

// Returns true if it is proven that no order has a peak below `below`. Otherwise `steps` are the
// precedences that every such order keeps.
bool refuted_by_force(OrderContext& context, Bytes below, std::vector<ForcedStep>& steps,
                      std::int64_t cuts) {
  if (below >= context.stuck) return false;
  Budget& budget = context.budget;
  ForcedOrder found =
      force_order(context.instance, below, steps, std::min(cuts, budget.nodes_left()), budget);
  budget.count_nodes(found.cuts);
  if (found.complete) context.stuck = below;
  if (found.proof) return context.confirm(*std::move(found.proof), "forced");
  steps = std::move(found.steps);
  return false;
}

CommitSearch::Found searched(OrderContext& context, Bytes capacity) {
  OrderMemory memory(context.table);
  if (!context.search) context.search.emplace(context.table);
  Budget& budget = context.budget;
  CommitSearch::Found found =
      context.search->run(memory, context.table.program_order(), capacity,
                          std::min(round_states(context), budget.nodes_left()), budget);
  budget.count_nodes(found.states);
  if (found.end == CommitSearch::End::found) context.take(found.steps, 'L', "search");
  return found;
}

// Raises the bound, with a certificate if that is not too long to be checked.
void raise_search(OrderContext& context, const CommitSearch::Found& found) {
  if (found.between > most_states_of(context.instance)) {
    context.raise("search", found.least_overflow);
    return;
  }
  OrderCertificate proof{.bound_bytes = found.least_overflow, .searched = SearchedSets{}};
  proof.searched->first.assign(found.steps.begin(), found.steps.end());
  proof.searched->last.assign(found.last.begin(), found.last.end());
  proof.searched->from_end = found.from_end;
  proof.searched->states = found.between;
  if (!context.confirm(std::move(proof), "search")) context.raise("search", found.least_overflow);
}

}  // namespace

void OrderContext::learn_needs(const std::vector<int>& order) {
  if (least_need.empty()) least_need.assign(order.size(), kMaxExact);
  const std::vector<Bytes> needs = needs_of(table, order);
  for (std::size_t k = 0; k < order.size(); ++k) {
    Bytes& least = least_need[static_cast<std::size_t>(order[k])];
    least = std::min(least, needs[k]);
  }
}

void OrderContext::take(const std::vector<int>& order, char source, const char* by) {
  const Bytes its = peak_of(table, order);
  learn_needs(order);
  if (!best.empty() && its >= peak) return;
  best = order;
  peak = its;
  if (instance.capacity && its > *instance.capacity) return;
  incumbent.offer(compose_order(instance, table, order), source, by);
}

void OrderContext::raise(const char* name, Bytes bound) {
  incumbent.raise_bound({name, static_cast<double>(bound)});
  if (!instance.capacity || bound <= *instance.capacity || incumbent.plan()) return;
  refuted = refuted_below("order", bound);
  if (certificate && certificate->bound_bytes > *instance.capacity) {
    refuted->proof.by = kByCertificate;
  }
}

bool OrderContext::confirm(OrderCertificate proof, const char* name) {
  const OrderCertificateCheck check = check_certificate(instance, proof);
  if (!check.violations.empty()) {
    incumbent.remark("a certificate fails its check: " + to_string(check.violations.front()));
    return false;
  }
  certificate = std::move(proof);
  raise(name, check.bound_bytes);
  return true;
}

namespace order_stage {

Ended program(OrderContext& context, Budget&) {
  context.take(context.table.program_order(), 'H', "program");
  return std::nullopt;
}

Ended commit(OrderContext& context, Budget&) {
  context.take(commit_order(context.table, context.table.program_order()), 'H', "commit");
  return std::nullopt;
}

Ended list(OrderContext& context, Budget&) {
  const std::vector<int> order = list_order(context.table);
  context.take(order, 'H', "list");
  context.take(commit_order(context.table, order), 'H', "commit");
  return std::nullopt;
}

Ended depth_first(OrderContext& context, Budget&) {
  const std::vector<int> order = depth_first_order(context.table);
  context.take(order, 'H', "dfs");
  context.take(commit_order(context.table, order), 'H', "commit");
  return std::nullopt;
}

Ended cuts(OrderContext& context, Budget&) {
  const OrderTable& table = context.table;
  context.cut.resize(context.least_need.size(), 0);
  std::vector<int> ops;
  for (int op = 0; op < table.operators(); ++op) {
    if (context.cut[static_cast<std::size_t>(op)] == 0) ops.push_back(op);
  }
  // The bound of an operator is at most the least need of its step in the known orders.
  const auto need = [&](int op) { return context.least_need[static_cast<std::size_t>(op)]; };
  std::ranges::stable_sort(ops, [&](int a, int b) { return need(a) > need(b); });
  LeastLive least(table);
  OrderCertificate best;
  const CutParams& params = context.params.cuts;
  const std::int64_t nodes = std::max(1, table.operators() + table.tensors());
  const std::int64_t most =
      std::max(order_fixed::kFewestCuts, std::min(params.nodes / nodes, params.operators));
  std::int64_t tried = 0;
  for (const int op : ops) {
    const Bytes known = std::max(context.bound(), best.bound_bytes);
    if (need(op) <= known || tried++ == most || context.budget.exhausted()) break;
    context.cut[static_cast<std::size_t>(op)] = 1;
    OrderCertificate cut = cut_bound(table, least, op);
    if (cut.bound_bytes > known) best = std::move(cut);
    if (best.bound_bytes >= context.peak) break;
  }
  if (best.bound_bytes > context.bound()) context.confirm(std::move(best), "cut");
  return std::nullopt;
}

Ended stretches(OrderContext& context, Budget& budget) {
  std::vector<int> order = context.best;
  OrderLns windows(context.table, context.params.heuristics.stretches);
  budget.count_nodes(windows.improve(order, effort_of_round(context), budget));
  if (peak_of(context.table, order) < context.peak) context.take(order, 'L', "lns");
  return std::nullopt;
}

Ended search_below(OrderContext& context, Budget&) {
  while (true) {
    const Bytes wanted = context.wanted();
    const CommitSearch::Found found = searched(context, wanted - 1);
    if (found.end == CommitSearch::End::none) raise_search(context, found);
    if (found.end != CommitSearch::End::found || context.done()) return std::nullopt;
    // With outputs in place, the order may need more than the least that the search counts.
    if (context.peak >= wanted) return std::nullopt;
  }
}

Ended search_from_bound(OrderContext& context, Budget&) {
  std::optional<CommitSearch::Found> none;
  for (Bytes capacity = context.bound(); !context.done() && capacity < context.peak;) {
    CommitSearch::Found found = searched(context, capacity);
    if (found.end != CommitSearch::End::none) break;
    capacity = found.least_overflow;
    none = std::move(found);
  }
  if (none) raise_search(context, *none);
  return std::nullopt;
}

Ended force(OrderContext& context, Budget&) {
  if (most_forced_of(context.instance) == 0) return std::nullopt;
  const ForcedParams& params = context.params.forced;
  const Bytes before = context.bound();
  const double share = static_cast<double>(round_states(context)) /
                       static_cast<double>(context.params.heuristics.stretches.states);
  const OrderTable& table = context.table;
  const std::int64_t cuts = context.forced_boost *
                            static_cast<std::int64_t>(share * static_cast<double>(params.nodes)) /
                            std::max(1, table.operators() + table.tensors());
  std::vector<ForcedStep> steps = context.forced;
  Bytes open = context.wanted();  // a peak below which an order may exist
  if (!refuted_by_force(context, open, steps, cuts) && steps.size() > context.forced.size()) {
    context.forced = steps;
    context.narrow.emplace(with_precedences(context.instance, context.forced));
  }
  // Bisection: tests whether an order can be better by half of the open interval, then by half of
  // the rest.
  for (int halved = 0; halved < params.halvings && !context.done(); ++halved) {
    const Bytes below = context.bound() + (open - context.bound()) / 2;
    if (below <= context.bound()) break;
    if (!refuted_by_force(context, below, steps, cuts)) open = below;
  }
  if (context.bound() > before) context.forced_boost *= 2;
  return std::nullopt;
}

Ended narrow_stretches(OrderContext& context, Budget& budget) {
  if (!context.narrow) return std::nullopt;
  const OrderTable& narrow = *context.narrow;
  const int turn = context.narrow_orders++ % 3;
  std::vector<int> order = turn == 0   ? list_order(narrow)
                           : turn == 1 ? depth_first_order(narrow)
                                       : narrow.program_order();
  order = commit_order(narrow, order);
  OrderLns windows(narrow, context.params.heuristics.stretches);
  budget.count_nodes(windows.improve(order, effort_of_round(context), budget));
  context.take(order, 'L', "lns");
  return std::nullopt;
}

Ended method_heuristic(OrderContext& context, Budget& budget) {
  for (const OrderHeuristic& heuristic : heuristics(context.instance, context.params.heuristics)) {
    if (heuristic.name != context.options.method) continue;
    if (auto plan = heuristic.run(context.instance, context.table, context.options.seed, budget)) {
      context.best.assign(plan->order.begin(), plan->order.end());
      context.peak = plan->peak_bytes;
      context.incumbent.offer(std::move(*plan), 'H', heuristic.name);
      context.learn_needs(context.best);
    } else {
      context.incumbent.remark(heuristic.name + " has no order within the capacity");
    }
  }
  return std::nullopt;
}

}  // namespace order_stage
}  // namespace stowage
