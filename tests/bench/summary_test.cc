#include "bench/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stowage::bench {
namespace {

using ::testing::DoubleNear;

Record result(const std::string& instance, const std::string& method, double objective,
              double bound, double seconds) {
  return {.instance = instance,
          .method = method,
          .kind = "ours",
          .status = objective == bound ? "optimal" : "feasible",
          .objective = objective,
          .bound = bound,
          .bound_by = method,
          .cpu_s = seconds};
}

TEST(Summary, TheBestOfAllRunsIsKnown) {
  const auto best = best_known({result("a", "x", 12, 8, 1), result("a", "y", 10, 7, 1),
                                result("a", "z", 11, 9, 1), result("b", "x", 5, 5, 1)});
  EXPECT_EQ(best.at("a").objective, 10);
  EXPECT_EQ(best.at("a").objective_by, "y");
  EXPECT_EQ(best.at("a").bound, 9);
  EXPECT_EQ(best.at("a").bound_by, "z");
  EXPECT_THAT(*best.at("a").gap(), DoubleNear(0.1, 1e-12));
  EXPECT_EQ(*best.at("b").gap(), 0);
}

TEST(Summary, MeasuresEachMethodAgainstItsBoundAndTheBest) {
  std::vector<Record> records = {result("a", "x", 12, 9, 0.1), result("b", "x", 5, 5, 0.3),
                                 result("a", "y", 10, 9, 1)};
  records.push_back({.instance = "b", .method = "y", .status = "unknown", .cpu_s = 2});
  records.back().time_limit_s = 2;
  const auto summaries = summarise(records, best_known(records));
  ASSERT_EQ(summaries.size(), 3U);
  const MethodSummary& x = summaries[0];
  EXPECT_EQ(x.method, "x");
  EXPECT_EQ(x.instances, 2U);
  EXPECT_EQ(x.proven, 1U);
  EXPECT_THAT(x.median_gap, DoubleNear(0.125, 1e-12));
  EXPECT_THAT(x.worst_gap, DoubleNear(0.25, 1e-12));
  EXPECT_THAT(x.worst_excess, DoubleNear(0.2, 1e-12));
  EXPECT_EQ(x.most_cpu_s, 0.3);
  EXPECT_EQ(summaries[2].method, "y 2 s");
  EXPECT_EQ(summaries[2].planned, 0U);
}

TEST(Summary, MiddleAndMean) {
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 2, 3}), 2.5);
  EXPECT_THAT(shifted_geometric_mean({1, 7}, 1), DoubleNear(3, 1e-12));
}

}  // namespace
}  // namespace stowage::bench
