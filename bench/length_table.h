// Compares the memory of orders with lower bounds at several lengths of a range. The orders are
// that of the list, orders made for one length, and the rows of a plan for the whole range. Also
// measures the time to select a row.
//
//   for (const LengthLine& line : length_table(graph, lengths, 200'000)) ...
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "instances/order/instance.h"
#include "instances/order/plan.h"

namespace stowage::bench {

// Peaks at one length, as multiples of the bound of a solve for that length alone.
struct LengthLine {
  Tokens tokens = 0;
  double program = 0;       // order of the list
  double for_shortest = 0;  // order from a solve for the shortest length
  double for_longest = 0;
  double row = 0;  // order of the plan's row that contains the length
};

// `plan` is a plan of `graph`, whose range of lengths contains all of `lengths`. Each solve is
// limited to `nodes` nodes.
std::vector<LengthLine> length_table(const OrderInstance& graph, const OrderPlan& plan,
                                     std::span<const Tokens> lengths, std::int64_t nodes);

// Returns the maximum of each column over all lines.
LengthLine worst_of(std::span<const LengthLine> lines);

// Returns the CPU nanoseconds of row_at() on a plan with `rows` rows, for random lengths.
double pick_ns(std::int64_t rows, std::int64_t picks);

}  // namespace stowage::bench
