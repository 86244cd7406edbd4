// The layout MIP: an offset for every buffer, and for every two that need memory together which of
// them lies above.
//
//   const LayoutTable table(instance);
//   const LayoutMip mip = build_layout_mip(table, {.most = known_peak, .least = known_bound});
//   const MilpResult result = solve_milp(backend, mip.model, {}, budget);
//   const std::vector<Bytes> offsets = decode(mip, table, result.values);
//
// Row names carry the numbers of formulations/README.md: D1 to D3 are the published model (MEMO,
// arXiv 2407.12117, section 4.2), E1 to E5 strengthen it. The objective is the peak in bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "formulations/milp/model.h"
#include "instances/layout/table.h"

namespace stowage {

struct LayoutMipOptions {
  bool strengthened = true;   // false: D1 to D3 alone, with U = the stack of all buffers
  std::optional<Bytes> most;  // U: the peak of a known layout, or the stack. Strengthened only
  Bytes least = 0;            // a proven lower bound. Strengthened only
};

struct LayoutMip {
  struct Pair {
    int low = 0;  // buffers; 0 of `above` puts low below high
    int high = 0;
    int above = -1;  // variable, or -1 where only one order is possible: low below high
  };
  milp::Model model;
  Bytes unit = 1;                // bytes of one unit of the model
  int peak = -1;                 // P: variable, in units
  std::vector<int> offset;       // A_i, or k_i where the offset is `multiple` times it
  std::vector<double> multiple;  // units per step of the offset variable
  std::vector<Pair> pairs;
  bool empty = false;  // no layout of a peak of at most `most` exists: the model is not built
};

// Conflicting pairs, before a model is built. O(n + sections).
std::int64_t layout_mip_pairs(const LayoutTable& table);

// Requires a stackable table without clashing pins. The strengthened model holds an optimal layout
// if the least peak is at most `most`.
LayoutMip build_layout_mip(const LayoutTable& table, const LayoutMipOptions& options);

// The layout of a point: its buffers from the lowest to the highest, each put at the lowest free
// offset. Never higher than the point says, and exact whatever the solver's tolerances.
std::vector<Bytes> decode(const LayoutMip& mip, const LayoutTable& table,
                          const std::vector<double>& values);

// The point of the model that says what the offsets say, for warm starts; twins are exchanged into
// the model's order. Empty if the offsets are not in the model, e.g. above `most`.
std::vector<double> encode(const LayoutMip& mip, const LayoutTable& table,
                           std::vector<Bytes> offsets);

}  // namespace stowage
