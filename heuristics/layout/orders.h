// Static orders of buffers: who is placed first when nothing else decides.
//
// An order is named by letters, compared one after the other, larger first, ties by index:
//   A  area, size x steps          Z  size           W  steps (at which its bytes are needed)
//   T  largest load of a section of its lifetime      C  sections       O  overlapping lifetimes
//   U  end of the lifetime         L  start of the lifetime, earlier first
// Source of A, C, L, O, T, U, W, Z: MiniMalloc (Moffitt, ASPLOS 2023), preordering heuristics.
//
//   static_order(table, "TWA");  // buffers of the fullest section first, long-lived before short
#pragma once

#include <string_view>
#include <vector>

#include "instances/layout/table.h"

namespace stowage {

// Idle and pinned buffers are left out. O(n log n).
std::vector<int> static_order(const LayoutTable& table, std::string_view keys);

}  // namespace stowage
