// When each tensor needs memory under an order, and who does at a step.
//
//   for (const TensorLife& life : lifetimes(table, order)) {
//     life.tensor, life.first, life.last      // steps; both inclusive
//   }
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "instances/order/plan.h"
#include "instances/order/table.h"

namespace stowage {

// From step `first` to step `last`, both inclusive.
struct TensorLife {
  int tensor = 0;
  std::int64_t first = 0;
  std::int64_t last = -1;

  bool at(std::int64_t step) const { return first <= step && step <= last; }
  bool operator==(const TensorLife&) const = default;
};

// Of every tensor that is ever there on the device, one for each run of its writer and each return
// from the host; by tensor, then by step.
// Inputs begin at step 0; what stays to the end lasts, from the last run on, to the last step.
// Without operators there is the step 0. In an order that breaks a precedence, a tensor counts from
// where it is made.
std::vector<TensorLife> lifetimes(const OrderTable& table, std::span<const std::int64_t> order,
                                  std::span<const OrderTransfer> transfers = {});

// The steps at which an operator stands again.
std::vector<std::int64_t> steps_again(const OrderTable& table, std::span<const std::int64_t> order);

// The first step that needs most: 0 without operators.
std::int64_t peak_step(const OrderTable& table, std::span<const std::int64_t> order,
                       std::span<const OrderTransfer> transfers = {});

}  // namespace stowage
