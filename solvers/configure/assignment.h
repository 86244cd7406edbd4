// The transport problem of one to one: each row to a column of its own, for the least sum of costs.
//
//   const Assignment least = least_assignment({{4, 1}, {2, 0}});   // columns {1, 0}, cost 3
//
// The linear programme of such a problem has integral corners, so that no fractional solution costs
// less. Solved by shortest augmenting paths (Jonker, Volgenant 1987), n^2 m steps for n rows and m
// columns. Exact where sums of costs are integers below 2^53.
//
// Thread safety: reads its arguments and nothing else.
#pragma once

#include <cstdint>
#include <vector>

namespace stowage {

struct Assignment {
  std::vector<std::int64_t> columns;  // of each row
  double cost = 0;
};

// Requires as many columns as rows at least, rows of one length, and finite costs. The same costs
// give the same assignment.
Assignment least_assignment(const std::vector<std::vector<double>>& costs);

}  // namespace stowage
