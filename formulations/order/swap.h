// Chooses fractions of the tensors alive across the peak to send to the host (MEMO, arXiv
// 2407.12117, section 4.1). Their transfers hide behind runs. The rest is computed again or stays.
//
//   const SwapLp lp = build_swap_lp(table, order);
//   lp.tensors[k], lp.fraction[k]      // a tensor, and the variable of the fraction to send
//
// MEMO has one fraction for all tensors of a layer, and requires that a layer's transfers hide
// behind the run of the next layer. Graphs have no layers. Here the same is required of all tensors
// up to each one, in the order in which they are made [M1] and in the order in which they are
// needed [M2]. Rows and their numbers are in docs/theory/order.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "formulations/milp/model.h"
#include "instances/order/planning_table.h"

namespace stowage {

// Limit on the tensors, because a row has up to one term per tensor.
inline constexpr std::size_t kMaxSwapTensors = 2000;

struct SwapLp {
  // To be minimised. It has no variables if no tensor can be sent, or if too many can.
  milp::Model model;
  std::vector<int> tensors;          // tensors alive across the peak, by the step that makes them
  std::vector<std::int64_t> behind;  // step of the last use of each tensor before the peak
  std::vector<int> fraction;         // variable of each tensor
};

// Requires a table with a host, and an order that keeps all precedences and runs each operator
// once.
SwapLp build_swap_lp(const OrderTable& table, std::span<const int> order);

}  // namespace stowage
