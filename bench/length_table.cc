#include "bench/length_table.h"

#include <algorithm>
#include <random>
#include <stdexcept>
#include <variant>

#include "instances/budget.h"
#include "instances/numeric/random.h"
#include "instances/order/memory/length_dependent_sizes.h"
#include "instances/order/memory/running_memory.h"
#include "instances/order/planning_table.h"
#include "solvers/solve.h"

namespace stowage::bench {
namespace {

Outcome solved_at(const OrderInstance& graph, Tokens length, std::int64_t nodes) {
  Budget budget({.node_limit = nodes});
  Outcome outcome = solve(at_length(graph, length), {}, budget);
  if (!outcome.plan) throw std::runtime_error("no plan: " + outcome.detail);
  return outcome;
}

std::vector<int> order_at(const OrderInstance& graph, Tokens length, std::int64_t nodes) {
  const Outcome outcome = solved_at(graph, length, nodes);
  const std::vector<std::int64_t>& order = std::get<OrderPlan>(*outcome.plan).order;
  return {order.begin(), order.end()};
}

}  // namespace

std::vector<LengthLine> length_table(const OrderInstance& graph, const OrderPlan& plan,
                                     std::span<const Tokens> lengths, std::int64_t nodes) {
  const std::vector<int> program = OrderTable(graph).program_order();
  const std::vector<int> shortest = order_at(graph, graph.tokens->from, nodes);
  const std::vector<int> longest = order_at(graph, graph.tokens->to, nodes);
  std::vector<LengthLine> lines;
  for (const Tokens length : lengths) {
    const OrderTable table(graph, length);
    const double bound = solved_at(graph, length, nodes).bound;
    const auto times = [&](const std::vector<int>& order) {
      return static_cast<double>(peak_of(table, order)) / bound;
    };
    const OrderRow* row = row_at(plan, length);
    if (row == nullptr) throw std::runtime_error("no row holds the length");
    lines.push_back({.tokens = length,
                     .program = times(program),
                     .for_shortest = times(shortest),
                     .for_longest = times(longest),
                     .row = times({row->order.begin(), row->order.end()})});
  }
  return lines;
}

LengthLine worst_of(std::span<const LengthLine> lines) {
  LengthLine worst;
  for (const LengthLine& line : lines) {
    worst.program = std::max(worst.program, line.program);
    worst.for_shortest = std::max(worst.for_shortest, line.for_shortest);
    worst.for_longest = std::max(worst.for_longest, line.for_longest);
    worst.row = std::max(worst.row, line.row);
  }
  return worst;
}

double pick_ns(std::int64_t rows, std::int64_t picks) {
  constexpr Tokens kWide = 100;  // width of a row in tokens
  OrderPlan plan;
  for (Tokens k = 0; k < rows; ++k) {
    plan.rows.push_back({.from = k * kWide + 1, .to = (k + 1) * kWide, .order = {0}});
  }
  std::mt19937_64 random(1);
  std::vector<Tokens> lengths(4096);
  for (Tokens& length : lengths) {
    length = 1 + static_cast<Tokens>(draw(random, static_cast<std::uint64_t>(rows * kWide)));
  }
  std::int64_t wrong = 0;  // printed at the end, so that the compiler keeps the calls
  const Budget clock({.clock = BudgetClock::cpu});
  for (std::int64_t k = 0; k < picks; ++k) {
    const Tokens length = lengths[static_cast<std::size_t>(k) % lengths.size()];
    const OrderRow* row = row_at(plan, length);
    wrong += row != nullptr && row->from <= length && length <= row->to ? 0 : 1;
  }
  const double seconds = clock.seconds();
  if (wrong > 0) throw std::runtime_error("row_at() found a row of other lengths");
  return 1e9 * seconds / static_cast<double>(picks);
}

}  // namespace stowage::bench
