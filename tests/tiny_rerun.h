// Random graphs small enough for brute force whose operators may run again. Half of them are graphs
// of tiny_order.h with times, half are chains with a backward pass, where recomputation pays. Half
// of them minimise the time within a capacity that is seldom sufficient without recomputation.
#pragma once

#include <algorithm>
#include <random>
#include <string>

#include "instances/numeric/random.h"
#include "instances/order/memory/running_memory.h"
#include "instances/order/planning_table.h"
#include "tests/tiny_order.h"

namespace stowage {

// A forward operator reads the previous operator's output or the input. A backward operator also
// reads the output of a forward operator.
inline OrderInstance tiny_chain(std::mt19937_64& random, std::uint64_t operators) {
  OrderInstance graph;
  const auto size = [&] { return static_cast<Bytes>(1 + draw(random, 9)); };
  graph.tensors.push_back({.size = size(), .input = true});
  const auto count = static_cast<std::int64_t>(operators);
  for (std::int64_t k = 0; k < count; ++k) {
    OrderOperator op{.reads = {k}, .writes = {k + 1}};
    const std::int64_t forward = (count + 1) / 2;
    if (k < forward && draw(random, 4) == 0) op.reads = {0};
    if (k >= forward && draw(random, 6) != 0) op.reads.push_back(count - 1 - k);
    if (draw(random, 6) == 0)
      op.reads.push_back(static_cast<std::int64_t>(draw(random, operators)) % (k + 1));
    if (draw(random, 8) == 0) op.workspace = size();
    graph.operators.push_back(std::move(op));
    graph.tensors.push_back({.size = size(), .output = draw(random, 12) == 0});
  }
  graph.tensors.back().output = true;
  return graph;
}

inline OrderInstance tiny_rerun(std::uint64_t seed, std::uint64_t most_operators = 6) {
  std::mt19937_64 random(seed + 77);
  OrderInstance graph =
      seed % 2 == 0 ? tiny_order(seed, most_operators, false) : tiny_chain(random, most_operators);
  graph.name = "tiny-rerun-" + std::to_string(seed);
  const bool whole = draw(random, 2) == 0;
  for (OrderOperator& op : graph.operators) {
    op.ms = static_cast<double>(draw(random, 9)) * (whole ? 1 : 0.3);
    op.recompute = op.updates.empty() && draw(random, 5) != 0;
  }
  if (draw(random, 2) == 0) return graph;
  graph.objective = OrderObjective::time;
  const OrderTable table(graph);
  const Bytes peak = peak_of(table, table.program_order());
  graph.capacity =
      peak - static_cast<Bytes>(draw(random, 1 + static_cast<std::uint64_t>(peak) / 3));
  return graph;
}

}  // namespace stowage
