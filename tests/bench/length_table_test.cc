#include "bench/length_table.h"

#include <gtest/gtest.h>

#include "instances/order/generate/generate.h"
#include "solvers/solve.h"

namespace stowage::bench::length_table_test {
namespace {

// A small graph with different best orders at the two ends of its range.
TEST(LengthTable, NoOrderIsBelowTheBoundAndTheRowIsTheBest) {
  const OrderInstance graph = *generate_order({.kind = OrderGenerator::Kind::transformer,
                                               .operators = 56,
                                               .tokens = 65536,
                                               .tokens_from = 256});
  constexpr std::int64_t kNodes = 20'000;
  Budget budget({.node_limit = kNodes});
  const Outcome outcome = solve(graph, {}, budget);
  ASSERT_TRUE(outcome.plan);
  const auto& plan = std::get<OrderPlan>(*outcome.plan);
  const std::vector<LengthLine> lines =
      length_table(graph, plan, std::vector<Tokens>{256, 1000, 65536}, kNodes);
  ASSERT_EQ(lines.size(), 3U);
  for (const LengthLine& line : lines) {
    EXPECT_GE(line.row, 1) << line.tokens;
    EXPECT_LE(line.row, line.program) << line.tokens;
    EXPECT_LE(line.row, line.for_shortest) << line.tokens;
    EXPECT_LE(line.row, line.for_longest) << line.tokens;
  }
  EXPECT_EQ(lines[0].tokens, 256);
  EXPECT_EQ(lines[0].for_shortest, lines[0].row);
  EXPECT_GT(lines[0].for_longest, lines[0].row);
  EXPECT_EQ(lines[2].for_longest, lines[2].row);
  EXPECT_GT(lines[2].for_shortest, lines[2].row);
  const LengthLine worst = worst_of(lines);
  EXPECT_EQ(worst.for_longest, std::max(lines[0].for_longest, lines[1].for_longest));
  EXPECT_EQ(worst.for_shortest, std::max(lines[1].for_shortest, lines[2].for_shortest));
}

TEST(LengthTable, EveryPickIsChecked) {
  for (const std::int64_t rows : {1, 2, 3, 1000}) EXPECT_GE(pick_ns(rows, 10'000), 0) << rows;
}

}  // namespace
}  // namespace stowage::bench::length_table_test
