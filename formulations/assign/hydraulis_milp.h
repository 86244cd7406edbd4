// The ILP of Hydraulis' stage 2 (arXiv 2412.07894, section 4.2) as a baseline: it packs one replica
// into a given number of rows. Rows H1 to H3 are in docs/theory/assign.md.
#pragma once

#include <span>
#include <vector>

#include "formulations/milp/model.h"
#include "instances/assign/planning_table.h"

namespace stowage {

struct HydraulisRows {
  milp::Model model;
  std::vector<std::vector<int>> in_row;  // o: [row][index into positions]
};

// Builds the ILP that minimises the longest of exactly `rows` non-empty rows. Requires that every
// position fits the scheme and that there are at least as many positions as rows.
HydraulisRows build_hydraulis_rows(const AssignTable& table, int scheme,
                                   std::span<const int> positions, int rows);

}  // namespace stowage
