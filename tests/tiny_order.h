// Random graphs small enough for brute force, with every special feature enabled in some of them:
// tensors and inputs without readers, inputs that are outputs, updates in place, `after`,
// workspaces, sizes of 0, lists that name a tensor twice, an alignment, and lists of operators that
// are not a valid order.
#pragma once

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "instances/numeric/random.h"
#include "instances/order/instance.h"

namespace stowage {

// At most `most_operators` operators. The capacity is set only if `capacities` is true.
inline OrderInstance tiny_order(std::uint64_t seed, std::uint64_t most_operators = 9,
                                bool capacities = true) {
  std::mt19937_64 random(seed);
  const auto up_to = [&](std::int64_t bound) {
    return static_cast<std::int64_t>(draw(random, static_cast<std::uint64_t>(bound) + 1));
  };
  OrderInstance graph{.name = "tiny-" + std::to_string(seed)};
  const bool odd = up_to(1) == 0;
  const std::int64_t sizes = up_to(3) == 0 ? 3 : 20;
  const auto size = [&] { return odd && up_to(9) == 0 ? 0 : 1 + up_to(sizes); };
  if (odd && up_to(3) == 0) graph.alignment = 1 + up_to(5);
  const std::int64_t inputs = up_to(3);
  for (std::int64_t t = 0; t < inputs; ++t) {
    graph.tensors.push_back({.size = size(), .input = true, .output = odd && up_to(3) == 0});
  }
  const auto count = static_cast<std::int64_t>(draw(random, most_operators + 1));
  const std::int64_t wide = 1 + up_to(3);  // tensors that an operator reads
  for (std::int64_t i = 0; i < count; ++i) {
    OrderOperator op;
    const std::int64_t known = std::ssize(graph.tensors);
    const std::int64_t recent = std::min(known, 1 + up_to(8));
    for (std::int64_t k = up_to(wide); k > 0 && recent > 0; --k) {
      const std::int64_t t = known - 1 - up_to(recent - 1);
      (odd && up_to(5) == 0 ? op.updates : op.reads).push_back(t);
    }
    const std::int64_t writes = up_to(9) == 0 ? 0 : 1 + (odd ? up_to(1) : 0);
    for (std::int64_t k = 0; k < writes; ++k) {
      op.writes.push_back(std::ssize(graph.tensors));
      graph.tensors.push_back({.size = size(), .output = up_to(7) == 0});
    }
    if (odd && up_to(2) == 0) op.workspace = up_to(10);
    if (odd && i > 0 && up_to(5) == 0) op.after.push_back(up_to(i - 1));
    graph.operators.push_back(std::move(op));
  }
  if (odd && count > 1 && up_to(1) == 0) {
    // Swaps the first and the last operator; without updates the graph stays the same.
    bool updates = false;
    for (const OrderOperator& op : graph.operators) updates = updates || !op.updates.empty();
    if (!updates) {
      std::swap(graph.operators.front(), graph.operators.back());
      for (OrderOperator& op : graph.operators) op.after.clear();
    }
  }
  if (capacities && up_to(9) == 0) graph.capacity = 20 + up_to(60);
  return graph;
}

// Returns a graph of tiny_order() with few sizes, in which operators may write in place.
inline OrderInstance tiny_in_place_order(std::uint64_t seed, std::uint64_t most_operators = 8) {
  OrderInstance graph = tiny_order(seed, most_operators, false);
  graph.name = "tiny-in-place-" + std::to_string(seed);
  std::mt19937_64 random(seed + 2);
  for (OrderTensor& tensor : graph.tensors) {
    tensor.size = static_cast<Bytes>(draw(random, 3)) * graph.alignment;
  }
  for (OrderOperator& op : graph.operators) {
    for (const std::int64_t t : op.reads) {
      const OrderTensor& from = graph.tensors[static_cast<std::size_t>(t)];
      bool fits = !from.output;
      for (const std::int64_t changed : op.updates) fits = fits && changed != t;
      bool same = false;
      for (const std::int64_t made : op.writes) {
        same = same || graph.tensors[static_cast<std::size_t>(made)].size == from.size;
      }
      if (fits && same && draw(random, 4) > 0) op.in_place.push_back(t);
    }
  }
  return graph;
}

// Returns a graph of tiny_order() whose sizes grow with a length in a random range, without a
// capacity.
inline OrderInstance tiny_growing_order(std::uint64_t seed, std::uint64_t most_operators = 6) {
  OrderInstance graph = tiny_order(seed, most_operators, false);
  graph.name = "tiny-growing-" + std::to_string(seed);
  std::mt19937_64 random(seed + 1);
  const auto up_to = [&](std::uint64_t most) {
    return static_cast<Tokens>(draw(random, most + 1));
  };
  const Tokens from = 1 + up_to(20);
  graph.tokens = {from, from + up_to(20)};
  for (OrderTensor& tensor : graph.tensors) {
    if (up_to(2) > 0) tensor.size_per_token = up_to(5);
  }
  for (OrderOperator& op : graph.operators) {
    if (up_to(3) == 0) op.workspace_per_token = up_to(3);
  }
  return graph;
}

}  // namespace stowage
