// The two ILPs of Hydraulis (arXiv 2412.07894, section 4.2), as marks to compare with.
//
// Stage 1 dispatches sequences to replicas; stage 2 packs one replica into a given number of rows.
// Rows H1 to H6 are in formulations/README.md.
#pragma once

#include <span>
#include <vector>

#include "formulations/milp/model.h"
#include "instances/assign/table.h"

namespace stowage {

struct HydraulisDispatch {
  milp::Model model;
  std::vector<int> scheme;                 // of each replica
  std::vector<std::vector<int>> dispatch;  // m: [replica][position], -1 where it does not fit
};

// Stage 1. Requires a usable strategy and a non-empty step.
HydraulisDispatch build_hydraulis_dispatch(const AssignTable& table, int strategy);

struct HydraulisRows {
  milp::Model model;
  std::vector<std::vector<int>> in_row;  // o: [row][index into positions]
};

// Stage 2: the longest row of exactly `rows` non-empty ones is as short as possible. Requires every
// position to fit the scheme and at least as many positions as rows.
HydraulisRows build_hydraulis_rows(const AssignTable& table, int scheme,
                                   std::span<const int> positions, int rows);

}  // namespace stowage
