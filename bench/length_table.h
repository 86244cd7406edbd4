// How much more memory an order needs than any must, at lengths of a range: that of the list, those
// made for one length, and the row of a plan for the whole range. And how long the pick of a row
// takes.
//
//   for (const LengthLine& line : length_table(graph, lengths, 200'000)) ...
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "instances/order/instance.h"
#include "instances/order/plan.h"

namespace stowage::bench {

// Peaks at one length, as multiples of the bound of a solve of that length alone.
struct LengthLine {
  Tokens tokens = 0;
  double program = 0;       // the order of the list
  double for_shortest = 0;  // the order that a solve of the shortest length finds
  double for_longest = 0;
  double row = 0;  // of the plan's row that holds the length
};

// `plan` is a plan of `graph`, which has a range of lengths that holds all of `lengths`. Solves
// have so many nodes each.
std::vector<LengthLine> length_table(const OrderInstance& graph, const OrderPlan& plan,
                                     std::span<const Tokens> lengths, std::int64_t nodes);

// The larger numbers of all lines, each by itself.
LengthLine worst_of(std::span<const LengthLine> lines);

// CPU nanoseconds that row_at() takes with so many rows, for lengths drawn at random.
double pick_ns(std::int64_t rows, std::int64_t picks);

}  // namespace stowage::bench
