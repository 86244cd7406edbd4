#include "solvers/memory/order_layout.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "instances/numeric/numbers.h"
#include "instances/order/memory/length_dependent_sizes.h"
#include "instances/order/memory/lifetimes.h"
#include "instances/order/planning_table.h"

namespace stowage {
namespace {

std::string name_of(const std::string& id, std::int64_t index) {
  return id.empty() ? std::to_string(index) : id;
}

// Returns the layout instance of a graph with fixed sizes.
LayoutInstance layout_of(const OrderInstance& graph, const std::vector<std::int64_t>& order,
                         const std::vector<OrderTransfer>& transfers,
                         const std::vector<OrderReuse>& in_place) {
  const auto comes_back = [&](const TensorLife& life) {
    return std::ranges::any_of(transfers, [&](const OrderTransfer& its) {
      return its.tensor == life.tensor && its.in == life.first;
    });
  };
  LayoutInstance layout{
      .name = graph.name, .capacity = graph.capacity, .alignment = graph.alignment};
  std::vector<std::int64_t> on(graph.tensors.size());  // a tensor with memory of its own: itself
  std::iota(on.begin(), on.end(), 0);
  for (const OrderReuse& its : in_place) on[at(its.tensor)] = its.on;
  std::vector<std::size_t> buffer_of(graph.tensors.size());
  std::set<std::string> names;
  int known = -1;  // the previous tensor
  const std::vector<TensorLife> lives = lifetimes(OrderTable(graph), order, transfers);
  for (const TensorLife& life : lives) {
    if (on[at(life.tensor)] != life.tensor) continue;
    const OrderTensor& tensor = graph.tensors[at(life.tensor)];
    buffer_of[at(life.tensor)] = layout.buffers.size();
    std::string name = name_of(tensor.id, life.tensor);
    if (life.tensor == known) name += comes_back(life) ? ".back" : ".again";
    known = life.tensor;
    while (!names.insert(name).second) name += '_';
    layout.buffers.push_back(
        {.id = std::move(name), .lower = life.first, .upper = life.last + 1, .size = tensor.size});
  }
  // A tensor in place prolongs the buffer whose memory it takes.
  for (const TensorLife& life : lives) {
    if (on[at(life.tensor)] == life.tensor) continue;
    std::int64_t first = on[at(life.tensor)];
    while (on[at(first)] != first) first = on[at(first)];
    Buffer& buffer = layout.buffers[buffer_of[at(first)]];
    buffer.upper = std::max(buffer.upper, life.last + 1);
    buffer.size = std::max(buffer.size, graph.tensors[at(life.tensor)].size);
  }
  for (std::int64_t step = 0; step < std::ssize(order); ++step) {
    const std::int64_t op = order[at(step)];
    const OrderOperator& its = graph.operators[at(op)];
    if (its.workspace == 0) continue;
    std::string name = name_of(its.id, op) + ".workspace";
    while (!names.insert(name).second) name += '_';
    layout.buffers.push_back(
        {.id = std::move(name), .lower = step, .upper = step + 1, .size = its.workspace});
  }
  return layout;
}

}  // namespace

LayoutInstance order_layout(const OrderInstance& graph, const OrderPlan& plan) {
  return layout_of(at_length(graph, longest_of(graph)), plan.order, plan.transfers, plan.in_place);
}

LayoutInstance order_layout(const OrderInstance& graph, const OrderRow& row) {
  return layout_of(at_length(graph, row.to), row.order, {}, {});
}

}  // namespace stowage
