#include "instances/order/lifetimes.h"

#include <algorithm>

#include "instances/numbers.h"
#include "instances/order/memory.h"

namespace stowage {

std::vector<TensorLife> lifetimes(const OrderTable& table, std::span<const std::int64_t> order) {
  std::vector<TensorLife> lives(stowage::at(table.tensors()));
  const std::int64_t end = std::max<std::int64_t>(1, std::ssize(order)) - 1;
  for (std::int64_t step = 0; step < std::ssize(order); ++step) {
    const int op = static_cast<int>(order[stowage::at(step)]);
    for (const int t : table.written(op)) lives[stowage::at(t)] = {step, step};
    for (const int t : table.touched(op)) lives[stowage::at(t)].last = step;
  }
  for (int t = 0; t < table.tensors(); ++t) {
    TensorLife& life = lives[stowage::at(t)];
    if (table.stays(t)) life.last = end;
    if (table.producer(t) == OrderTable::kNobody) life.first = 0;
  }
  return lives;
}

std::int64_t peak_step(const OrderTable& table, std::span<const std::int64_t> order) {
  const std::vector<int> steps(order.begin(), order.end());
  const std::vector<Bytes> needs = needs_of(table, steps);
  if (needs.empty()) return 0;
  return std::ranges::max_element(needs) - needs.begin();
}

}  // namespace stowage
