// Random graphs with a host, small enough for brute force: those of tiny_order.h and of
// tiny_rerun.h without recomputation. Half of them minimise the time within a capacity that is
// seldom sufficient without transfers.
#pragma once

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "instances/numeric/random.h"
#include "instances/order/memory/running_memory.h"
#include "instances/order/plan.h"
#include "instances/order/planning_table.h"
#include "tests/instances/draw.h"
#include "tests/tiny_rerun.h"

namespace stowage {

inline OrderInstance tiny_host(std::uint64_t seed, std::uint64_t most_operators = 5) {
  OrderInstance graph = tiny_rerun(seed, most_operators);
  graph.name = "tiny-host-" + std::to_string(seed);
  std::mt19937_64 random(seed + 177);
  for (OrderOperator& op : graph.operators) op.recompute = false;
  // The rates are whole or fractional bytes per ms, so that times are exact or rounded.
  const double slow = draw(random, 2) == 0 ? 1 : 0.7;
  graph.host = HostLink{.out_bytes_per_ms = slow * static_cast<double>(1 + draw(random, 8)),
                        .in_bytes_per_ms = slow * static_cast<double>(1 + draw(random, 8))};
  if (draw(random, 3) == 0) graph.host->capacity = static_cast<Bytes>(draw(random, 20));
  return graph;
}

// Returns up to two random valid transfers for an order without recomputation.
inline std::vector<OrderTransfer> random_transfers(const OrderTable& table,
                                                   const std::vector<int>& order, Draw& draw) {
  std::vector<OrderTransfer> all;
  const auto steps = std::ssize(order);
  for (int tries = 0; tries < 20 && std::ssize(all) < 2; ++tries) {
    if (table.tensors() == 0 || steps < 3) break;
    const auto t = static_cast<int>(draw.below(static_cast<std::size_t>(table.tensors())));
    const bool again = std::ranges::any_of(
        all, [&](const OrderTransfer& transfer) { return transfer.tensor == t; });
    if (again) continue;
    // The steps that access the tensor; an input exists before the first step.
    std::vector<std::int64_t> uses;
    if (table.producer(t) == OrderTable::kNobody) uses.push_back(-1);
    for (std::int64_t k = 0; k < steps; ++k) {
      const int op = order[at(k)];
      const auto touched = table.touched(op);
      if (table.producer(t) == op || std::ranges::find(touched, t) != touched.end()) {
        uses.push_back(k);
      }
    }
    if (table.stays(t)) uses.push_back(steps);
    if (uses.size() < 2) continue;
    const std::size_t gap = draw.below(uses.size() - 1);
    const std::int64_t first = std::max<std::int64_t>(1, uses[gap] + 1);
    const std::int64_t last = std::min(uses[gap + 1], steps - 1);
    if (first >= last) continue;
    const std::int64_t freed = draw.whole(first, last - 1);
    all.push_back({.tensor = t,
                   .out = draw.whole(std::max<std::int64_t>(0, uses[gap] + 1), freed),
                   .freed = freed,
                   .in = draw.whole(freed + 1, last)});
  }
  return all;
}

}  // namespace stowage
