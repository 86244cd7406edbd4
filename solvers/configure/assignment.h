// The assignment problem: assigns each row its own column with the least sum of costs.
//
//   const Assignment least = least_assignment({{4, 1}, {2, 0}});   // columns {1, 0}, cost 3
//
// The linear programme of this problem has integral vertices, so that no fractional solution costs
// less. Solved by shortest augmenting paths (Jonker, Volgenant 1987), in n^2 m steps for n rows and
// m columns. Exact if sums of costs are integers below 2^53.
//
// Thread safety: the function only reads its arguments.
#pragma once

#include <cstdint>
#include <vector>

namespace stowage {

struct Assignment {
  std::vector<std::int64_t> columns;  // column of each row
  double cost = 0;
};

// Requires at least as many columns as rows, rows of equal length, and finite costs. The same costs
// give the same assignment.
Assignment least_assignment(const std::vector<std::vector<double>>& costs);

}  // namespace stowage
