#include "heuristics/layout/improve/improvement_rounds.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "heuristics/layout/construct/stack_all.h"
#include "heuristics/layout/improve/ejection.h"
#include "instances/layout/generate/generate.h"
#include "instances/numeric/numbers.h"
#include "tests/layout_check.h"
#include "tests/least_layout.h"
#include "tests/tiny_layout.h"

namespace stowage::layout_improve_test {
namespace {

TEST(Ejection, MakesLayoutsBelowItsTargetAndLeavesPinsAlone) {
  int lower = 0;
  int tried = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    const LayoutInstance instance = tiny_layout(seed, 6);
    const LayoutTable table(instance);
    if (table.clash() || instance.capacity) continue;
    const auto start = pile(instance);
    ASSERT_TRUE(start);
    const Bytes least = least_peak(table);
    ++tried;
    Budget budget;
    Ejection ejection(table, seed);
    const auto offsets = ejection.fit_below(*start, least, 200'000, budget);
    if (offsets) {
      EXPECT_EQ(layout_fault(instance, *offsets, table.peak(*offsets)), "") << seed;
      EXPECT_LE(table.peak(*offsets), least) << seed;
      ++lower;
    }
    EXPECT_FALSE(ejection.fit_below(*start, least - 1, 2'000, budget)) << seed;
  }
  EXPECT_GT(tried, 800);
  EXPECT_GT(lower, tried * 95 / 100);  // and finds the optimum nearly always
}

TEST(Ejection, CountsNodesAndStopsWithThem) {
  const auto made = generate_layout({.kind = LayoutGenerator::Kind::guillotine, .buffers = 200});
  ASSERT_TRUE(made);
  const LayoutTable table(made->instance);
  const auto start = pile(made->instance);
  ASSERT_TRUE(start);
  Budget budget({.node_limit = 500});
  EXPECT_FALSE(Ejection(table, 0).fit_below(*start, *made->optimum, 1'000'000'000, budget));
  EXPECT_LE(budget.nodes(), 501);
}

TEST(ImproveLayout, LowersPeaksAlikeEachTimeAndTellsEachBetterOne) {
  const auto made =
      generate_layout({.kind = LayoutGenerator::Kind::short_lived, .buffers = 2000, .steps = 3000});
  ASSERT_TRUE(made);
  const LayoutTable table(made->instance);
  const auto start = pile(made->instance);
  ASSERT_TRUE(start);
  std::vector<Bytes> first;
  for (int run = 0; run < 2; ++run) {
    Budget budget({.node_limit = 3000});
    Bytes told = table.peak(*start);
    const std::vector<Bytes> offsets =
        improve_layout(table, *start, {.seed = 5}, budget, [&](const std::vector<Bytes>& better) {
          EXPECT_LT(table.peak(better), told);
          told = table.peak(better);
        });
    EXPECT_EQ(layout_fault(made->instance, offsets, told), "");
    EXPECT_LE(static_cast<double>(told), 1.1 * static_cast<double>(table.max_load()));
    if (run == 0) first = offsets;
    EXPECT_EQ(offsets, first);
  }
}

TEST(ImproveLayout, KeepsWhatIsOptimal) {
  const LayoutInstance instance{
      .buffers = {{.lower = 0, .upper = 2, .size = 5}, {.lower = 1, .upper = 4, .size = 3}}};
  const LayoutTable table(instance);
  Budget budget;
  const std::vector<Bytes> start{3, 0};
  EXPECT_EQ(improve_layout(table, start, {}, budget, [](const auto&) { FAIL(); }), start);
}

// No layout reaches the load, and the rounds end without a limit.
TEST(ImproveLayout, EndsWithoutLimits) {
  const LayoutInstance instance{.buffers = {{.lower = 0, .upper = 2, .size = 2},
                                            {.lower = 1, .upper = 3, .size = 2, .offset = 3},
                                            {.lower = 2, .upper = 4, .size = 2},
                                            {.lower = 3, .upper = 5, .size = 2, .offset = 1}}};
  const LayoutTable table(instance);
  Budget budget;
  const std::vector<Bytes> start{0, 3, 5, 1};
  const std::vector<Bytes> offsets = improve_layout(table, start, {}, budget, [](const auto&) {});
  EXPECT_EQ(layout_fault(instance, offsets, table.peak(offsets)), "");
}

}  // namespace
}  // namespace stowage::layout_improve_test
