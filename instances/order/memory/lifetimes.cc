#include "instances/order/memory/lifetimes.h"

#include <algorithm>

#include "instances/numeric/numbers.h"
#include "instances/order/memory/running_memory.h"

namespace stowage {

std::vector<TensorLife> lifetimes(const OrderTable& table, std::span<const std::int64_t> order,
                                  std::span<const OrderTransfer> transfers) {
  std::vector<std::vector<const OrderTransfer*>> moves(transfers.empty() ? 0 : order.size());
  for (const OrderTransfer& transfer : transfers) {
    moves[stowage::at(transfer.freed)].push_back(&transfer);
    moves[stowage::at(transfer.in)].push_back(&transfer);
  }
  std::vector<std::vector<TensorLife>> lives(stowage::at(table.tensors()));
  const std::int64_t end = std::max<std::int64_t>(1, std::ssize(order)) - 1;
  for (int t = 0; t < table.tensors(); ++t) {
    // A tensor without a producer is an input; one that is neither touched nor stays is never live.
    if (table.producer(t) == OrderTable::kNobody &&
        (table.stays(t) || !table.touchers(t).empty())) {
      lives[stowage::at(t)].push_back({.tensor = t});
    }
  }
  for (std::int64_t step = 0; step < std::ssize(order); ++step) {
    const int op = static_cast<int>(order[stowage::at(step)]);
    if (!moves.empty()) {
      for (const OrderTransfer* its : moves[stowage::at(step)]) {
        const int t = static_cast<int>(its->tensor);
        if (its->in == step) {
          lives[stowage::at(t)].push_back({t, step, step});
        } else {
          lives[stowage::at(t)].back().last = step - 1;
        }
      }
    }
    for (const int t : table.written(op)) lives[stowage::at(t)].push_back({t, step, step});
    for (const int t : table.touched(op)) {
      // In an order that breaks a precedence, a tensor may be touched before it is made.
      if (!lives[stowage::at(t)].empty()) lives[stowage::at(t)].back().last = step;
    }
  }
  std::vector<TensorLife> all;
  for (int t = 0; t < table.tensors(); ++t) {
    std::vector<TensorLife>& its = lives[stowage::at(t)];
    if (table.stays(t) && !its.empty()) its.back().last = end;
    all.insert(all.end(), its.begin(), its.end());
  }
  return all;
}

std::vector<std::int64_t> steps_again(const OrderTable& table,
                                      std::span<const std::int64_t> order) {
  std::vector<bool> ran(stowage::at(table.operators()), false);
  std::vector<std::int64_t> again;
  for (std::int64_t step = 0; step < std::ssize(order); ++step) {
    const std::size_t op = stowage::at(order[stowage::at(step)]);
    if (ran[op]) again.push_back(step);
    ran[op] = true;
  }
  return again;
}

std::int64_t peak_step(const OrderTable& table, std::span<const std::int64_t> order,
                       std::span<const OrderTransfer> transfers) {
  const std::vector<int> steps(order.begin(), order.end());
  const std::vector<Bytes> needs = needs_of(table, steps, transfers);
  if (needs.empty()) return 0;
  return std::ranges::max_element(needs) - needs.begin();
}

}  // namespace stowage
