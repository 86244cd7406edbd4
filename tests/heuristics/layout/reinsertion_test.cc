#include "heuristics/layout/improve/reinsertion.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "heuristics/layout/construct/stack_all.h"
#include "heuristics/layout/index/section_heights.h"
#include "instances/layout/generate/generate.h"
#include "instances/numeric/numbers.h"
#include "instances/numeric/random.h"
#include "tests/layout_check.h"
#include "tests/least_layout.h"
#include "tests/tiny_layout.h"

namespace stowage::layout_reinsertion_test {
namespace {

TEST(SectionHeights, AreThoseOfAnArray) {
  QuickRandom random(1);
  for (int sections : {1, 5, 64, 65, 200}) {
    SectionHeights heights(sections);
    std::vector<Bytes> plain(at(sections), 0);
    for (int i = 0; i < 2000; ++i) {
      if (random.below(100) == 0) {
        heights.clear();
        plain.assign(at(sections), 0);
      }
      const auto first = static_cast<int>(random.below(static_cast<std::uint32_t>(sections)));
      const int last =
          first + 1 + static_cast<int>(random.below(static_cast<std::uint32_t>(sections - first)));
      const Bytes height = random.below(5);
      Bytes most = 0;
      for (int s = first; s < last; ++s) most = std::max(most, plain[at(s)]);
      ASSERT_EQ(heights.take({first, last}), most);
      heights.put({first, last}, height);
      std::fill(plain.begin() + first, plain.begin() + last, height);
      ASSERT_EQ(heights.raised(), sections - std::ranges::count(plain, 0));
    }
  }
}

TEST(Reinsertion, FindsTheOptimumOfFewBuffersAndLeavesPinsAlone) {
  int tried = 0;
  int optimal = 0;
  int pins = 0;
  int gaps = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    const LayoutInstance instance = tiny_layout(seed, 6);
    const LayoutTable table(instance);
    if (table.clash() || instance.capacity) continue;
    const std::vector<Bytes> start = pile(instance).value();
    const Bytes least = least_peak(table);
    ++tried;
    pins += table.any_pins();
    gaps += table.any_gaps();
    Budget budget;
    const std::vector<Bytes> end = Reinsertion(table, seed).lower(start, least, 20'000, budget);
    EXPECT_EQ(layout_fault(instance, end, table.peak(end)), "") << seed;
    EXPECT_LE(table.peak(end), table.peak(start)) << seed;
    EXPECT_GE(table.peak(end), least) << seed;
    optimal += table.peak(end) == least;
    EXPECT_EQ(Reinsertion(table, seed).lower(start, least, 20'000, budget), end);
  }
  EXPECT_GT(tried, 800);
  EXPECT_GT(pins, 100);
  EXPECT_GT(gaps, 50);
  EXPECT_GT(optimal, tried * 90 / 100);
}

TEST(Reinsertion, CompletesAStackOnAnyPartOfIt) {
  int tried = 0;
  int whole = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    LayoutInstance instance = tiny_layout(seed, 30);
    instance.capacity.reset();
    const LayoutTable table(instance);
    if (table.any_pins()) continue;
    std::vector<Bytes> offsets = pile(instance).value();
    QuickRandom random(seed);
    const std::uint32_t left_out = random.below(5);
    for (Bytes& offset : offsets) {
      if (random.below(4) < left_out) offset = -1;
    }
    Budget budget;
    const auto all = Reinsertion(table, seed).complete(offsets, 0, budget);
    ASSERT_TRUE(all) << seed;
    EXPECT_EQ(layout_fault(instance, *all, table.peak(*all)), "") << seed;
    if (left_out == 0) {
      EXPECT_LE(table.peak(*all), table.peak(offsets)) << seed;
      ++whole;
    }
    EXPECT_EQ(budget.nodes() > 0, std::ranges::count(offsets, -1) > 0 && table.max_load() > 0);
    Budget one({.node_limit = 1});
    EXPECT_EQ(Reinsertion(table, seed).complete(offsets, 0, one).has_value(), budget.nodes() <= 1);
    ++tried;
  }
  EXPECT_GT(tried, 80);
  EXPECT_GT(whole, 10);
}

TEST(Reinsertion, LowersWhatIsLarger) {
  int lower = 0;
  for (std::uint64_t seed = 0; seed < 80; ++seed) {
    LayoutInstance instance = tiny_layout(seed, 30);
    instance.capacity.reset();
    const LayoutTable table(instance);
    if (table.clash()) continue;
    const std::vector<Bytes> start = pile(instance).value();
    Budget budget;
    const std::vector<Bytes> end = Reinsertion(table, seed).lower(start, 0, 100'000, budget);
    EXPECT_EQ(layout_fault(instance, end, table.peak(end)), "") << seed;
    lower += table.peak(end) < table.peak(start);
  }
  EXPECT_GT(lower, 30);
}

TEST(Reinsertion, PacksARectangleBetterThanItsPile) {
  const auto made = generate_layout(
      {.kind = LayoutGenerator::Kind::guillotine, .buffers = 100, .steps = 100, .seed = 3});
  ASSERT_TRUE(made);
  const LayoutTable table(made->instance);
  Budget budget;
  const std::vector<Bytes> end =
      Reinsertion(table, 1).lower(pile(made->instance).value(), 0, 20'000'000, budget);
  EXPECT_LE(static_cast<double>(table.peak(end)), 1.05 * static_cast<double>(*made->optimum));
}

TEST(Reinsertion, CountsNodesAndStopsWithThem) {
  const auto made = generate_layout({.kind = LayoutGenerator::Kind::guillotine, .buffers = 200});
  ASSERT_TRUE(made);
  const LayoutTable table(made->instance);
  const std::vector<Bytes> start = pile(made->instance).value();
  Budget some({.node_limit = 500});
  const std::vector<Bytes> end = Reinsertion(table, 0).lower(start, 0, 1'000'000'000, some);
  EXPECT_LE(table.peak(end), table.peak(start));
  EXPECT_GE(some.nodes(), 500);
  EXPECT_LE(some.nodes(), 520);
  Budget none({.time_limit_s = 0});
  EXPECT_EQ(Reinsertion(table, 0).lower(start, 0, 1'000'000'000, none), start);
}

}  // namespace
}  // namespace stowage::layout_reinsertion_test
