// The layout MIP: an offset for every buffer, and for every two buffers that need memory at the
// same time the one that lies above.
//
//   const LayoutTable table(instance);
//   const LayoutMip mip = build_layout_mip(table, {.most = known_peak, .least = known_bound});
//   const MilpResult result = solve_milp(backend, mip.model, {}, budget);
//   const std::vector<Bytes> offsets = decode(mip, table, result.values);
//
// Row names have the numbers of docs/theory/layout.md. D1 to D3 are the published model (MEMO,
// arXiv 2407.12117, section 4.2), and E1 to E5 strengthen it. The objective is the peak in bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "formulations/milp/model.h"
#include "instances/layout/planning_table.h"

namespace stowage {

struct LayoutMipOptions {
  bool strengthened = true;  // false: D1 to D3 alone, with U = the stack of all buffers
  // U: the peak of a known layout, or the stack; strengthened model only.
  std::optional<Bytes> most;
  Bytes least = 0;  // a proven lower bound; strengthened model only
};

struct LayoutMip {
  struct Pair {
    int low = 0;  // buffers; value 0 of `above` means that low is below high
    int high = 0;
    int above = -1;  // variable, or -1 if only one order is possible: low below high
  };
  milp::Model model;
  Bytes unit = 1;                // bytes of one unit of the model
  int peak = -1;                 // P: variable, in units
  std::vector<int> offset;       // A_i, or k_i if the offset is k_i times `multiple`
  std::vector<double> multiple;  // units per step of the offset variable
  std::vector<Pair> pairs;
  bool empty = false;  // no layout has a peak of at most `most`, and the model is not built
};

// Returns the number of conflicting pairs without building a model. O(n + sections).
std::int64_t layout_mip_pairs(const LayoutTable& table);

// Requires a stackable table without clashing pins. The strengthened model contains an optimal
// layout if the least peak is at most `most`.
LayoutMip build_layout_mip(const LayoutTable& table, const LayoutMipOptions& options);

// Returns the layout of a solution. Places the buffers from the lowest to the highest, each at the
// lowest free offset. So the peak is at most that of the solution, and the layout is exact under
// any tolerance of the solver.
std::vector<Bytes> decode(const LayoutMip& mip, const LayoutTable& table,
                          const std::vector<double>& values);

// Returns the solution of the model with these offsets, for warm starts. Twins are swapped into the
// model's order. Returns an empty list if the offsets are not in the model, e.g. above `most`.
std::vector<double> encode(const LayoutMip& mip, const LayoutTable& table,
                           std::vector<Bytes> offsets);

}  // namespace stowage
