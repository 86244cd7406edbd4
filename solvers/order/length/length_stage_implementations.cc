#include <algorithm>
#include <functional>
#include <limits>
#include <string>
#include <utility>

#include "instances/order/json/json.h"
#include "instances/order/memory/length_dependent_sizes.h"
#include "instances/order/plan_builder.h"
#include "instances/order/planning_table.h"
#include "solvers/order/stage_implementations.h"

namespace stowage {

void LengthContext::solve_at(Tokens length, std::int64_t nodes) {
  solved[length] = nodes;
  const OrderInstance graph = at_length(instance, length);
  SolveOptions of_graph = options;
  of_graph.start.reset();
  if (searches() && !rows.empty()) {
    OrderPlan start = compose_order(graph, OrderTable(graph), rows.order_at(length));
    start.instance_hash = instance_hash(graph);
    if (!graph.capacity || start.peak_bytes <= *graph.capacity) of_graph.start = std::move(start);
  }
  Budget part = budget.part(std::numeric_limits<double>::infinity(), nodes);
  Outcome outcome = fixed(graph, of_graph, part, {});
  // the order is proven optimal
  if (outcome.status == Status::optimal) solved[length] = most_nodes();
  if (outcome.plan) {
    const auto& plan = std::get<OrderPlan>(*outcome.plan);
    const std::string by = outcome.found_by == "start" ? rows.found_by(length) : outcome.found_by;
    rows.add({plan.order.begin(), plan.order.end()}, by);
  } else if (outcome.status == Status::error) {
    incumbent.remark(outcome.detail);
  }
  if (length != longest()) return;
  for (const NamedBound& bound : outcome.bounds) incumbent.raise_bound(bound);
  if (outcome.certificate) {
    const auto& found = std::get<OrderCertificate>(outcome.certificate->any());
    if (!certificate || certificate->bound_bytes < found.bound_bytes) certificate = found;
  }
  if (outcome.status != Status::infeasible) return;
  refuted = {.detail = outcome.detail,
             .remedy = outcome.remedy,
             .proof = outcome.infeasibility.value_or(InfeasibilityProof())};
}

void LengthContext::offer() {
  if (rows.empty()) return;
  if (instance.capacity && rows.peak_at(longest()) > *instance.capacity) return;
  const StopReason reason = budget.stop_reason();
  const bool hurry = reason == StopReason::time_limit || reason == StopReason::interrupted;
  const auto most = static_cast<std::size_t>(params.lengths.rows);
  std::vector<OrderRow> all = rows.make({.cuts = hurry ? 0 : cuts, .most = most});
  const std::vector<std::int64_t>& last = all.back().order;
  OrderPlan plan =
      compose_order(instance, OrderTable(instance), std::vector<int>(last.begin(), last.end()));
  plan.rows = std::move(all);
  incumbent.offer(std::move(plan), searches() ? 'L' : 'H', rows.found_by(longest()));
}

namespace length_stage {
namespace {

// Solves the graph at one more end of a row whose gap is open. Returns false if no such end is
// left.
bool solve_worst_end(LengthContext& context, std::int64_t nodes) {
  if (context.rows.empty()) return false;
  const auto most = static_cast<std::size_t>(context.params.lengths.rows);
  std::vector<OrderRow> rows = context.rows.make({.cuts = context.cuts, .most = most});
  std::ranges::stable_sort(rows, std::greater(), worst_gap);
  for (const OrderRow& row : rows) {
    for (const Tokens end : {row.to, row.from}) {
      const bool open = context.rows.gap_at(end, context.cuts) > context.options.gap;
      if (context.solved[end] >= nodes || !open) continue;
      context.solve_at(end, nodes);
      return true;
    }
  }
  return false;
}

}  // namespace

Ended longest(LengthContext& context, Budget&) {
  context.solve_at(context.longest(), context.params.lengths.nodes);
  return std::nullopt;
}

Ended shortest(LengthContext& context, Budget&) {
  context.solve_at(context.instance.tokens->from, context.params.lengths.nodes);
  return std::nullopt;
}

Ended row_ends(LengthContext& context, Budget& budget) {
  const std::int64_t nodes = context.round_nodes();
  for (int solves = 0; solves < context.params.lengths.solves && !budget.exhausted(); ++solves) {
    if (!solve_worst_end(context, nodes)) break;
  }
  return std::nullopt;
}

Ended longest_again(LengthContext& context, Budget&) {
  const std::int64_t nodes = context.most_nodes();
  if (context.solved[context.longest()] < nodes) context.solve_at(context.longest(), nodes);
  return std::nullopt;
}

Ended rows(LengthContext& context, Budget&) {
  if (!context.refuted) context.offer();
  return std::nullopt;
}

}  // namespace length_stage
}  // namespace stowage
