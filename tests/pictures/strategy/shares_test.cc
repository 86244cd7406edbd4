// The time shares of configurations: parts to scale, none beyond the whole.
#include "instances/pictures/strategy/shares.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/svg_document.h"

namespace stowage::strategy_shares_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string drawn(const std::vector<TimeShares>& all) {
  std::string svg = svg_document({strategy_shares(all)}, "shares");
  EXPECT_EQ(SvgDocument(svg).complaints(), "");
  return svg;
}

TEST(StrategyShares, AreToScale) {
  const std::string svg =
      drawn({{.name = "pp 2", .step_ms = 100, .exchange_ms = 20, .idle_ms = 10, .bubble_ms = 30},
             {.name = "pp <1>", .step_ms = 200}});
  const SvgDocument document(svg);
  const auto compute = document.rects("c0");  // two bars, then the legend's box
  ASSERT_EQ(compute.size(), 3U);
  const double per_ms = compute[1].box.width / 200;
  EXPECT_NEAR(compute[0].box.width, 40 * per_ms, 0.02);
  const auto exchange = document.rects("c4");
  ASSERT_EQ(exchange.size(), 2U);
  EXPECT_NEAR(exchange[0].box.x, compute[0].box.right(), 0.02);
  EXPECT_NEAR(exchange[0].box.width, 20 * per_ms, 0.02);
  const auto bubble = document.rects("w");
  ASSERT_EQ(bubble.size(), 2U);
  EXPECT_NEAR(bubble[0].box.right(), compute[0].box.x + 100 * per_ms, 0.02);
  EXPECT_TRUE(document.has_tooltip("waiting for longer groups, 10.00 ms of 100.0 ms"));
  EXPECT_THAT(svg, Not(HasSubstr("Not drawn")));
}

TEST(StrategyShares, EndWithTheWhole) {
  const std::string svg =
      drawn({{.name = "all waits", .step_ms = 10, .exchange_ms = 8, .idle_ms = 8}});
  const SvgDocument document(svg);
  EXPECT_EQ(document.rects("c0").size(), 1U);  // only the legend's box
  const auto exchange = document.rects("c4");
  const auto idle = document.rects("c3");
  ASSERT_EQ(idle.size(), 2U);
  EXPECT_NEAR(idle[0].box.width, exchange[0].box.width / 4, 0.02);
}

TEST(StrategyShares, SayHowManyAreLeftOut) {
  EXPECT_THAT(drawn(std::vector<TimeShares>(23, {.name = "x", .step_ms = 1})),
              HasSubstr("Not drawn: 3 configurations."));
}

}  // namespace
}  // namespace stowage::strategy_shares_test
