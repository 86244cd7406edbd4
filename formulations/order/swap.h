// How much of what is alive across the peak to send to the host (MEMO, arXiv 2407.12117, section
// 4.1): fractions of tensors whose transfers hide behind runs; what is left is computed again or
// stays.
//
//   const SwapLp lp = build_swap_lp(table, order);
//   lp.tensors[k], lp.fraction[k]      // a tensor, and the variable of how much of it goes
//
// MEMO has one fraction for all tensors of a layer, and says of each layer that its transfers hide
// behind the run of the next one. Graphs have no layers: here the same is said of all tensors up to
// each one, in the order in which they are made [M1], and in that in which they are needed [M2].
// Rows and their numbers are those of formulations/README.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "formulations/milp/model.h"
#include "instances/order/table.h"

namespace stowage {

// Rows have up to as many terms as there are tensors.
inline constexpr std::size_t kMostSwapTensors = 2000;

struct SwapLp {
  // To be minimised; without variables if nothing can go, or too many tensors can.
  milp::Model model;
  std::vector<int> tensors;          // that are alive across the peak, by the step that makes them
  std::vector<std::int64_t> behind;  // the step of the last use of each before the peak
  std::vector<int> fraction;         // variables
};

// Requires a table with a host, and an order that keeps all precedences without runs again.
SwapLp build_swap_lp(const OrderTable& table, std::span<const int> order);

}  // namespace stowage
