#include "kernels/memory/order_layout.h"

#include <set>
#include <string>
#include <utility>

#include "instances/numbers.h"
#include "instances/order/lifetimes.h"
#include "instances/order/table.h"

namespace stowage::kernels {
namespace {

std::string name_of(const std::string& id, std::int64_t index) {
  return id.empty() ? std::to_string(index) : id;
}

}  // namespace

LayoutInstance order_layout(const OrderInstance& graph, const OrderPlan& plan) {
  LayoutInstance layout{
      .name = graph.name, .capacity = graph.capacity, .alignment = graph.alignment};
  std::set<std::string> names;
  const std::vector<TensorLife> lives = lifetimes(OrderTable(graph), plan.order);
  for (std::int64_t t = 0; t < std::ssize(graph.tensors); ++t) {
    const TensorLife& life = lives[at(t)];
    if (life.last < life.first) continue;
    const OrderTensor& tensor = graph.tensors[at(t)];
    layout.buffers.push_back({.id = name_of(tensor.id, t),
                              .lower = life.first,
                              .upper = life.last + 1,
                              .size = tensor.size});
    names.insert(layout.buffers.back().id);
  }
  for (std::int64_t step = 0; step < std::ssize(plan.order); ++step) {
    const std::int64_t op = plan.order[at(step)];
    const OrderOperator& its = graph.operators[at(op)];
    if (its.workspace == 0) continue;
    std::string name = name_of(its.id, op) + ".workspace";
    while (!names.insert(name).second) name += '_';
    layout.buffers.push_back(
        {.id = std::move(name), .lower = step, .upper = step + 1, .size = its.workspace});
  }
  return layout;
}

}  // namespace stowage::kernels
