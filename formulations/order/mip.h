// The order of a small graph as a mixed-integer programme, for cross-checks and other solvers.
//
//   const OrderTable table(instance);
//   OrderMip mip = build_order_mip(table, {.most = incumbent, .least = bound});
//   OrderMip joint = build_order_mip(table, {.most = stack, .addresses = true});  // and offsets
//   const std::vector<int> order = decode(mip, values);
//
// y_v_k means that operator v is among the first k. There are about n^2 / 2 of these variables for
// n operators. With addresses, P is the end of the highest tensor instead of the live bytes.
// Addresses add about 2 m^2 binaries and n m^2 rows for m tensors, so it only suits a handful of
// operators. Rows O1 to O7 are in docs/theory/order.md.
#pragma once

#include <cstdint>
#include <vector>

#include "formulations/milp/model.h"
#include "instances/order/planning_table.h"

namespace stowage {

struct OrderMipOptions {
  Bytes most = 0;          // a known peak, or a capacity [O5]
  Bytes least = 0;         // a proven lower bound [O5]
  bool addresses = false;  // [O6]
};

struct OrderMip {
  milp::Model model;
  Bytes unit = 1;  // bytes per unit of the model: divides all sizes and workspaces
  int peak = 0;    // variable
  // done[v][k - first[v]]: the variable that v is among the first k. It is 0 before first[v], and 1
  // after the last entry [O4].
  std::vector<std::int64_t> first;
  std::vector<std::vector<int>> done;
  bool empty = false;  // `least` is above `most`
};

// Returns an upper bound on the number of binary variables.
std::int64_t order_mip_binaries(const OrderTable& table, bool addresses = false);

OrderMip build_order_mip(const OrderTable& table, const OrderMipOptions& options);

// Returns the order of a solution, which keeps all precedences. Its binaries only need to be near 0
// and 1.
std::vector<int> decode(const OrderMip& mip, const OrderTable& table,
                        const std::vector<double>& values);

}  // namespace stowage
