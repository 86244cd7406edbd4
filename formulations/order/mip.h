// The order of a small graph as a mixed-integer programme, for cross-checks and other solvers.
//
//   const OrderTable table(instance);
//   OrderMip mip = build_order_mip(table, {.most = incumbent, .least = bound});
//   OrderMip joint = build_order_mip(table, {.most = stack, .addresses = true});  // and offsets
//   const std::vector<int> order = decode(mip, values);
//
// y_v_k says that operator v is among the first k. There are about n^2 / 2 of them for n operators.
// With addresses P is where the highest tensor ends, not what is live: some 2 m^2 more binaries and
// n m^2 rows for m tensors, for a handful of operators. Rows and their numbers, O1 to O6, are those
// of formulations/README.md.
#pragma once

#include <cstdint>
#include <vector>

#include "formulations/milp/model.h"
#include "instances/order/table.h"

namespace stowage {

struct OrderMipOptions {
  Bytes most = 0;          // a peak that is known, or a capacity [O5]
  Bytes least = 0;         // a proven bound [O5]
  bool addresses = false;  // [O6]
};

struct OrderMip {
  milp::Model model;
  Bytes unit = 1;  // of the model's bytes: divides all sizes and workspaces
  int peak = 0;    // variable
  // done[v][k - first[v]]: the variable that v is among the first k; before first[v] it is not, and
  // after the last entry it is [O4].
  std::vector<std::int64_t> first;
  std::vector<std::vector<int>> done;
  bool empty = false;  // `least` is above `most`
};

// How many binary variables the model has at most.
std::int64_t order_mip_binaries(const OrderTable& table, bool addresses = false);

OrderMip build_order_mip(const OrderTable& table, const OrderMipOptions& options);

// The order of a point, whose binaries need only be near 0 and 1; always one that keeps all
// precedences.
std::vector<int> decode(const OrderMip& mip, const OrderTable& table,
                        const std::vector<double>& values);

}  // namespace stowage
