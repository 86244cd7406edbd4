#include "solvers/layout/core_first.h"

#include <gtest/gtest.h>

#include <vector>

#include "heuristics/layout/construct/stack_all.h"
#include "instances/layout/generate/generate.h"
#include "tests/layout_check.h"
#include "tests/least_layout.h"
#include "tests/tiny_layout.h"

namespace stowage::layout_busiest_test {
namespace {

const BetterLayout kSilent = [](const std::vector<Bytes>&) {};

// Loads that rise and fall: most sections need far less than the busiest section.
LayoutInstance uneven(std::uint64_t seed, std::int64_t buffers,
                      LayoutGenerator::Kind kind = LayoutGenerator::Kind::short_lived) {
  auto made = generate_layout(
      {.kind = kind, .buffers = buffers, .steps = buffers, .bytes = 64, .seed = seed});
  EXPECT_TRUE(made);
  return made->instance;
}

TEST(CoreFirst, FindsTheOptimumOfFewBuffers) {
  int tried = 0;
  int optimal = 0;
  int gaps = 0;
  for (std::uint64_t seed = 0; seed < 1200; ++seed) {
    LayoutInstance instance = tiny_layout(seed, 6);
    instance.capacity.reset();
    const LayoutTable table(instance);
    if (!CoreFirst::fits(table)) continue;
    const std::vector<Bytes> start = pile(instance).value();
    const Bytes least = least_peak(table);
    Budget budget({.node_limit = 20'000});
    const std::vector<Bytes> end = CoreFirst(table, seed).lower(start, least, budget, kSilent);
    EXPECT_EQ(layout_fault(instance, end, table.peak(end)), "") << seed;
    EXPECT_GE(table.peak(end), least) << seed;
    ++tried;
    gaps += table.any_gaps();
    optimal += table.peak(end) == least;
  }
  EXPECT_GT(tried, 400);
  EXPECT_GT(gaps, 30);
  EXPECT_EQ(optimal, tried);
}

TEST(CoreFirst, LowersWhatHasSeveralPartsAndTellsEachBetterLayout) {
  int lower = 0;
  int tried = 0;
  int gaps = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    LayoutInstance instance = seed % 2 == 0 ? uneven(seed, 200) : tiny_layout(seed, 300);
    instance.capacity.reset();
    const LayoutTable table(instance);
    if (!CoreFirst::fits(table)) continue;
    const std::vector<Bytes> start = pile(instance).value();
    Bytes told = table.peak(start);
    CoreFirst busiest(table, seed);
    if (busiest.parts() < 2) continue;
    Budget budget({.node_limit = 6'000});
    const std::vector<Bytes> end =
        busiest.lower(start, 0, budget, [&](const std::vector<Bytes>& better) {
          EXPECT_EQ(layout_fault(instance, better, table.peak(better)), "") << seed;
          EXPECT_LT(table.peak(better), told) << seed;
          told = table.peak(better);
        });
    EXPECT_EQ(table.peak(end), told) << seed;
    ++tried;
    gaps += table.any_gaps();
    lower += told < table.peak(start);
  }
  EXPECT_GT(tried, 40);
  EXPECT_GT(gaps, 5);
  EXPECT_GT(lower, tried * 8 / 10);
}

TEST(CoreFirst, StopsWithTheBudgetAndGoesOnAfterwards) {
  const LayoutInstance instance = uneven(3, 400, LayoutGenerator::Kind::random);
  const LayoutTable table(instance);
  const std::vector<Bytes> start = pile(instance).value();
  CoreFirst busiest(table, 1);
  Budget none({.time_limit_s = 0});
  EXPECT_EQ(busiest.lower(start, 0, none, kSilent), start);
  EXPECT_EQ(none.nodes(), 0);
  std::vector<Bytes> best = start;
  int worked = 0;  // calls that had not already found the optimum
  for (int i = 0; i < 5; ++i) {
    Budget some({.node_limit = 3'000});
    const Bytes before = table.peak(best);
    best = busiest.lower(std::move(best), 0, some, kSilent);
    EXPECT_LE(table.peak(best), before);
    EXPECT_LE(some.nodes(), 3'100);
    worked += some.nodes() > 0;
  }
  EXPECT_LT(table.peak(best), table.peak(start));
  EXPECT_GT(worked, 2);
  CoreFirst again(table, 1);
  std::vector<Bytes> same = start;
  std::vector<Bytes> anew = start;
  for (int i = 0; i < 5; ++i) {
    Budget some({.node_limit = 3'000});
    same = again.lower(std::move(same), 0, some, kSilent);
    Budget other({.node_limit = 3'000});
    anew = CoreFirst(table, 1).lower(std::move(anew), 0, other, kSilent);
  }
  EXPECT_EQ(same, best);
  EXPECT_LT(table.peak(same), table.peak(anew));
}

TEST(CoreFirst, LeavesWhatIsEnough) {
  const LayoutInstance instance = uneven(5, 200);
  const LayoutTable table(instance);
  const std::vector<Bytes> start = pile(instance).value();
  Budget budget({.node_limit = 1'000});
  EXPECT_EQ(CoreFirst(table, 0).lower(start, table.peak(start), budget, kSilent), start);
  EXPECT_EQ(budget.nodes(), 0);
}

TEST(CoreFirst, IsForAFewThousandBuffersWithoutPins) {
  LayoutInstance instance = uneven(1, 100);
  EXPECT_TRUE(CoreFirst::fits(LayoutTable(instance)));
  instance.buffers[0].offset = 0;
  EXPECT_FALSE(CoreFirst::fits(LayoutTable(instance)));
  EXPECT_FALSE(CoreFirst::fits(LayoutTable(uneven(1, 5'001))));
  Buffer pieces{.upper = 12'001, .size = 1};
  for (std::int64_t step = 1; step < 12'000; step += 2) pieces.gaps.push_back({step, step + 1});
  LayoutInstance many{.buffers = {pieces}};
  for (std::int64_t step = 0; step < 12'000; step += 3) {
    many.buffers.push_back({.lower = step, .upper = step + 3, .size = 1});
  }
  EXPECT_FALSE(CoreFirst::fits(LayoutTable(many)));
}

// One busy step among many steps with lower loads: its part is optimal quickly, and so is the
// whole.
TEST(CoreFirst, LeavesNoGapWhereOneStepIsBusy) {
  int met = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    LayoutInstance instance = uneven(seed, 150);
    for (int i = 0; i < 20; ++i) {
      instance.buffers.push_back({.lower = 70 - i, .upper = 75 + i, .size = 40 + 7 * i});
    }
    const LayoutTable table(instance);
    const std::vector<Bytes> start = pile(instance).value();
    EXPECT_GT(table.peak(start), table.max_load());
    Budget budget({.node_limit = 60'000});
    const std::vector<Bytes> end = CoreFirst(table, seed).lower(start, 0, budget, kSilent);
    EXPECT_EQ(layout_fault(instance, end, table.peak(end)), "") << seed;
    met += table.peak(end) == table.max_load();
  }
  EXPECT_EQ(met, 10);
}

}  // namespace
}  // namespace stowage::layout_busiest_test
