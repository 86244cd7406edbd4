// Windows of time: layouts stay valid, are never worse, repeat, and reach the load of many short
// buffers.
#include "heuristics/layout/improve/window_lowering.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "heuristics/layout/registry.h"
#include "instances/layout/plan_builder.h"
#include "instances/layout/verify/verify.h"
#include "instances/numeric/random.h"

namespace stowage::layout_window_lowering_test {
namespace {

using ::testing::IsEmpty;

LayoutInstance short_buffers(std::uint64_t seed, int buffers, bool gaps) {
  std::mt19937_64 random(seed);
  LayoutInstance instance;
  for (int b = 0; b < buffers; ++b) {
    const auto lower = static_cast<std::int64_t>(draw(random, static_cast<std::uint64_t>(buffers)));
    const auto steps = static_cast<std::int64_t>(3 + draw(random, 40));
    Buffer buffer{
        .lower = lower, .upper = lower + steps, .size = static_cast<Bytes>(1 + draw(random, 500))};
    if (gaps && b % 7 == 0) buffer.gaps.push_back({lower + 1, lower + 2});
    if (b % 11 == 0) buffer.alignment = 8;
    instance.buffers.push_back(std::move(buffer));
  }
  return instance;
}

std::vector<Bytes> first_layout(const LayoutInstance& instance, const LayoutTable& table) {
  const Budget budget;
  for (const LayoutHeuristic& heuristic : heuristics(instance)) {
    if (heuristic.name == "fast") return heuristic.run(instance, table, 0, budget)->offsets;
  }
  return {};
}

TEST(WindowLowering, LayoutsAreValidLowerAndTheSameAgain) {
  for (const bool gaps : {false, true}) {
    const LayoutInstance instance = short_buffers(gaps ? 1 : 2, 1500, gaps);
    const LayoutTable table(instance);
    const std::vector<Bytes> start = first_layout(instance, table);
    ASSERT_GT(table.peak(start), table.max_load());
    const ImproveOptions options{.seed = 5};
    Bytes told = table.peak(start);
    const auto tell = [&](const std::vector<Bytes>& offsets) {
      EXPECT_LT(table.peak(offsets), told);
      told = table.peak(offsets);
      EXPECT_THAT(verify(instance, compose_layout(instance, offsets)), IsEmpty());
    };
    Budget budget({.node_limit = 200'000});
    const std::vector<Bytes> lower = lower_windows(table, start, options, budget, tell);
    EXPECT_THAT(verify(instance, compose_layout(instance, lower)), IsEmpty());
    EXPECT_LT(table.peak(lower), table.peak(start));
    EXPECT_EQ(table.peak(lower), told);
    Budget again({.node_limit = 200'000});
    EXPECT_EQ(lower_windows(table, start, options, again, [](const auto&) {}), lower);
  }
}

TEST(WindowLowering, StopsAtTheLoadAndWithoutBuffers) {
  const LayoutInstance apart{
      .buffers = {{.lower = 0, .upper = 1, .size = 5}, {.lower = 1, .upper = 2, .size = 7}}};
  const LayoutTable table(apart);
  Budget budget;
  const std::vector<Bytes> least = {0, 0};
  EXPECT_EQ(lower_windows(table, least, {}, budget, [](const auto&) { FAIL(); }), least);
  const LayoutTable empty{LayoutInstance{}};
  EXPECT_THAT(lower_windows(empty, {}, {}, budget, [](const auto&) { FAIL(); }), IsEmpty());
}

}  // namespace
}  // namespace stowage::layout_window_lowering_test
