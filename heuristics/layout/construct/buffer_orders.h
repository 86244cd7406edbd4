// Static orders of buffers, by which a method places buffers if no other rule decides.
//
// A string of letters names an order. Buffers are compared by one letter after the other, larger
// first, ties by index:
//   A  area, size x steps          Z  size           W  steps (at which its bytes are needed)
//   T  largest load of a section of its lifetime      C  sections       O  overlapping lifetimes
//   U  end of the lifetime         L  start of the lifetime, earlier first
// Source of A, C, L, O, T, U, W, Z: MiniMalloc (Moffitt, ASPLOS 2023), preordering heuristics.
//
//   static_order(table, "TWA");  // buffers of the fullest section first, long-lived before short
#pragma once

#include <string_view>
#include <vector>

#include "instances/layout/planning_table.h"

namespace stowage {

// Returns the buffers that are neither idle nor pinned, in this order. O(n log n).
std::vector<int> static_order(const LayoutTable& table, std::string_view keys);

}  // namespace stowage
