// The steps at which each tensor needs memory under an order.
//
//   for (const TensorLife& life : lifetimes(table, order)) {
//     life.tensor, life.first, life.last      // steps; both inclusive
//   }
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "instances/order/plan.h"
#include "instances/order/planning_table.h"

namespace stowage {

// A tensor needs memory from step `first` to step `last`, both inclusive.
struct TensorLife {
  int tensor = 0;
  std::int64_t first = 0;
  std::int64_t last = -1;

  bool at(std::int64_t step) const { return first <= step && step <= last; }
  bool operator==(const TensorLife&) const = default;
};

// Returns the lifetimes of every tensor that is ever on the device, one for each run of its writer
// and each return from the host; sorted by tensor, then by step. Inputs begin at step 0. A tensor
// that stays to the end lives from its last run to the last step. A graph without operators has the
// step 0. In an order that breaks a precedence, a tensor lives from the step that makes it.
std::vector<TensorLife> lifetimes(const OrderTable& table, std::span<const std::int64_t> order,
                                  std::span<const OrderTransfer> transfers = {});

// Returns the steps at which an operator runs again.
std::vector<std::int64_t> steps_again(const OrderTable& table, std::span<const std::int64_t> order);

// Returns the first step of the largest need; 0 without operators.
std::int64_t peak_step(const OrderTable& table, std::span<const std::int64_t> order,
                       std::span<const OrderTransfer> transfers = {});

}  // namespace stowage
