// Random graphs whose sizes grow with a length, over random ranges: at every length of the range an
// oracle computes the peak of the row's order, and the least need of the bound's operator in any
// order.
//
// STOWAGE_LONG=1 takes a thousand ranges of each kind instead of a few dozen.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

#include "instances/check.h"
#include "instances/numeric/random.h"
#include "instances/order/memory/length_dependent_sizes.h"
#include "instances/verify.h"
#include "solvers/solve.h"
#include "tests/long_run.h"
#include "tests/oracles/order/brute_force_again.h"
#include "tests/oracles/order/every_length.h"
#include "tests/tiny_order.h"
#include "tests/tiny_rerun.h"

namespace stowage::order_length_ranges_test {
namespace {

using ::testing::IsEmpty;

// Each tensor and workspace is fixed, grows, or both, so that another operator determines the peak
// at the other end of the range.
OrderInstance growing(OrderInstance graph, std::uint64_t seed) {
  std::mt19937_64 random(seed + 1);
  const auto up_to = [&](std::uint64_t most) {
    return static_cast<Tokens>(draw(random, most + 1));
  };
  graph.objective = OrderObjective::peak;
  graph.capacity.reset();
  const Tokens from = 1 + up_to(std::uint64_t{1} << up_to(10));
  const Tokens to = from + up_to(60);
  graph.tokens = {from, to};
  const auto grow = [&](Bytes& fixed, Bytes& per_token) {
    const Tokens kind = up_to(2);
    if (kind > 0) per_token = up_to(5);
    fixed = kind == 1 ? 0 : fixed * (from + to) / 8;
  };
  for (OrderTensor& tensor : graph.tensors) grow(tensor.size, tensor.size_per_token);
  for (OrderOperator& op : graph.operators) grow(op.workspace, op.workspace_per_token);
  return graph;
}

OrderPlan planned(const OrderInstance& graph) {
  Budget budget({.node_limit = 20'000});
  const Outcome outcome = solve(graph, {}, budget);
  EXPECT_TRUE(outcome.plan) << outcome.detail;
  if (!outcome.plan) return {};
  EXPECT_THAT(verify(Instance(graph), *outcome.plan), IsEmpty());
  return std::get<OrderPlan>(*outcome.plan);
}

struct Seen {
  int ranges = 0;
  int rows = 0;
  int lengths = 0;
};

// `least(row, length)` returns a lower bound on all plans at that length: by the operator of the
// row's bound, or by trying all plans.
template <class Least>
void recount(const OrderInstance& graph, Seen& seen, Least least) {
  const OrderPlan plan = planned(graph);
  ++seen.ranges;
  seen.rows += static_cast<int>(plan.rows.size());
  Tokens counted = 0;
  for (const OrderRow& row : plan.rows) {
    const Tokens wide = row.to - row.from;
    const auto between = [&](Bytes first, Bytes last, Tokens s) {  // times `wide`
      return first * (row.to - s) + last * (s - row.from);
    };
    for (Tokens s = row.from; s <= row.to; ++s, ++counted) {
      ASSERT_EQ(row_at(plan, s), &row) << s;
      const Bytes peak = recounted_peak(graph, row.order, s);
      const Bytes bound = least(row, s);
      EXPECT_LE(bound, peak) << s;
      if (s == row.from) {
        EXPECT_EQ(row.peak_at_from, peak) << s;
        EXPECT_LE(row.bound_at_from, bound) << s;
      }
      if (s == row.to) {
        EXPECT_EQ(row.peak_at_to, peak) << s;
        EXPECT_LE(row.bound_at_to, bound) << s;
      }
      EXPECT_GE(between(row.peak_at_from, row.peak_at_to, s), peak * wide) << s;
      EXPECT_LE(between(row.bound_at_from, row.bound_at_to, s), bound * wide) << s;
    }
  }
  EXPECT_EQ(counted, graph.tokens->to - graph.tokens->from + 1);
  seen.lengths += static_cast<int>(counted);
}

// A cut gives the exact need of its operator: at both ends the bound of a row is the minimum over
// all sets.
TEST(OrderLengthRanges, EveryLengthIsCountedAgain) {
  Seen seen;
  const auto ranges = static_cast<std::uint64_t>(in_long_run(100, 1000));
  for (std::uint64_t seed = 0; seed < ranges; ++seed) {
    SCOPED_TRACE(seed);
    const OrderInstance graph = growing(tiny_order(seed, 11, false), seed);
    ASSERT_THAT(check(graph), IsEmpty());
    std::map<std::int64_t, LeastNeed> needs;
    recount(graph, seen, [&](const OrderRow& row, Tokens s) {
      const LeastNeed& need =
          needs.try_emplace(row.bound_operator, graph, row.bound_operator).first->second;
      if (s == row.from) {
        EXPECT_EQ(row.bound_at_from, need.at(s));
      }
      if (s == row.to) {
        EXPECT_EQ(row.bound_at_to, need.at(s));
      }
      return need.at(s);
    });
  }
  EXPECT_EQ(seen.ranges, static_cast<int>(ranges));
  EXPECT_GT(seen.rows, seen.ranges + seen.ranges / 20);  // some have several
  EXPECT_GT(seen.lengths, 20 * seen.ranges);
  RecordProperty("ranges", seen.ranges);
  RecordProperty("rows", seen.rows);
  RecordProperty("lengths", seen.lengths);
}

// With recomputation, all plans with up to two runs of each operator are tried at every length.
TEST(OrderLengthRanges, EveryLengthIsCountedAgainWhereOperatorsRunAgain) {
  Seen seen;
  int again = 0;
  const auto ranges = static_cast<std::uint64_t>(in_long_run(40, 1000));
  for (std::uint64_t seed = 0; seed < ranges; ++seed) {
    SCOPED_TRACE(seed);
    const OrderInstance graph = growing(tiny_rerun(seed, 5), seed);
    ASSERT_THAT(check(graph), IsEmpty());
    recount(graph, seen, [&](const OrderRow& row, Tokens s) {
      std::map<std::int64_t, int> runs;
      int most = 0;
      for (const std::int64_t op : row.order) most = std::max(most, ++runs[op]);
      if (s == row.from && most > 1) ++again;
      const double best = brute_force_again(at_length(graph, s), std::clamp(most, 2, 3)).value();
      return static_cast<Bytes>(best);
    });
  }
  EXPECT_GT(again, 3);
  EXPECT_GT(seen.lengths, 20 * seen.ranges);
  RecordProperty("rows", seen.rows);
  RecordProperty("lengths", seen.lengths);
}

}  // namespace
}  // namespace stowage::order_length_ranges_test
