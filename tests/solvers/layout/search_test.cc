#include "solvers/layout/exact/search.h"

#include <gtest/gtest.h>

#include "heuristics/layout/construct/buffer_orders.h"
#include "instances/layout/generate/hard_packings.h"
#include "solvers/layout/tree/tree.h"
#include "tests/guillotine_layout.h"
#include "tests/layout_check.h"
#include "tests/oracles/layout/brute_force.h"
#include "tests/tiny_layout.h"

namespace stowage::layout_search_test {
namespace {

constexpr std::int64_t kEnough = 5'000'000;  // nodes

LayoutMinimum minimum(const LayoutInstance& instance, std::int64_t nodes = kEnough) {
  const LayoutTable table(instance);
  Budget budget({.node_limit = nodes});
  return minimise_layout(table, {.capacity = instance.capacity}, budget);
}

TEST(LayoutSearch, AgreesWithBruteForce) {
  int above_load = 0;
  int infeasible = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    const LayoutInstance instance = tiny_layout(seed);
    const auto oracle = brute_force(instance);
    const LayoutMinimum found = minimum(instance);
    if (!oracle) {
      EXPECT_EQ(found.end, LayoutEnd::exhausted) << seed;
      EXPECT_FALSE(found.offsets) << seed;
      ++infeasible;
      continue;
    }
    ASSERT_EQ(layout_fault(instance, oracle->offsets, oracle->peak_bytes), "") << seed;
    ASSERT_EQ(found.end, LayoutEnd::layout) << seed;
    EXPECT_EQ(layout_fault(instance, *found.offsets, found.peak), "") << seed;
    EXPECT_EQ(found.peak, oracle->peak_bytes) << seed;
    EXPECT_EQ(found.bound, found.peak) << seed;
    const Bytes load = LayoutTable(instance).max_load();
    EXPECT_LE(load, oracle->peak_bytes) << seed;
    above_load += load < oracle->peak_bytes;
  }
  EXPECT_GT(above_load, 200);
  EXPECT_GT(infeasible, 100);
}

// On instances too large for the oracle: no order may find a layout if another order proves that
// there is none.
TEST(LayoutSearch, AllOrdersAgree) {
  int above_load = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    LayoutInstance instance = tiny_layout(seed, 14);
    instance.capacity.reset();
    const LayoutTable table(instance);
    if (table.clash() || table.max_load() == 0) continue;  // no peak below 0
    const LayoutMinimum best = minimum(instance);
    ASSERT_EQ(best.end, LayoutEnd::layout) << seed;
    EXPECT_EQ(layout_fault(instance, *best.offsets, best.peak), "") << seed;
    above_load += best.peak > table.max_load();
    const LayoutNeighbours neighbours(table);
    for (const char* keys : {"TCA", "Z", "L", "U", "WO", ""}) {
      const std::vector<int> order = static_order(table, keys);
      for (const auto choice : {LayoutTree::Choice::order, LayoutTree::Choice::flush}) {
        FailedStates above;
        LayoutTree enough(table, neighbours, order, best.peak, above, choice);
        EXPECT_EQ(enough.run(kEnough), LayoutTree::End::layout) << seed << ' ' << keys;
        FailedStates below;
        LayoutTree less(table, neighbours, order, best.peak - 1, below, choice);
        EXPECT_EQ(less.run(kEnough), LayoutTree::End::exhausted) << seed << ' ' << keys;
      }
    }
  }
  EXPECT_GT(above_load, 40);
}

TEST(LayoutSearch, ATreeGoesOnWhereItStopped) {
  const LayoutInstance instance = guillotine_layout(2, 60, 200, 300);
  const LayoutTable table(instance);
  const LayoutNeighbours neighbours(table);
  const std::vector<int> order = static_order(table, "ATW");
  FailedStates of_whole;
  LayoutTree whole(table, neighbours, order, table.max_load(), of_whole);
  ASSERT_EQ(whole.run(kEnough), LayoutTree::End::layout);
  FailedStates of_slices;
  LayoutTree slices(table, neighbours, order, table.max_load(), of_slices);
  while (slices.run(3) == LayoutTree::End::open) continue;
  EXPECT_EQ(slices.nodes(), whole.nodes());
  EXPECT_EQ(slices.offsets(), whole.offsets());
}

TEST(LayoutSearch, FindsTheTightLayoutOfACutRectangle) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const LayoutInstance instance = guillotine_layout(seed, 80, 500, 100'000);
    const LayoutMinimum found = minimum(instance);
    ASSERT_EQ(found.end, LayoutEnd::layout) << seed;
    EXPECT_EQ(found.peak, 100'000) << seed;
    EXPECT_EQ(layout_fault(instance, *found.offsets, found.peak), "") << seed;
  }
}

TEST(LayoutSearch, EndsWithTheTruth) {
  const LayoutInstance instance = guillotine_layout(1, 100, 500, 100'000);
  const LayoutTable table(instance);
  Budget none({.node_limit = 0});
  EXPECT_EQ(minimise_layout(table, {}, none).end, LayoutEnd::budget);
  Budget no_time({.time_limit_s = 0});
  const LayoutMinimum unknown = minimise_layout(table, {}, no_time);
  EXPECT_EQ(unknown.end, LayoutEnd::budget);
  EXPECT_FALSE(unknown.offsets);
  EXPECT_EQ(unknown.bound, 100'000);
  Budget plenty;
  EXPECT_EQ(minimise_layout(table, {.capacity = 99'999}, plenty).end, LayoutEnd::exhausted);
  EXPECT_EQ(minimise_layout(table, {.capacity = 200'000}, plenty).end, LayoutEnd::layout);
  EXPECT_GT(plenty.nodes(), 0);
}

TEST(LayoutSearch, NodesAreNeverExceededAndDecideTheCourse) {
  const LayoutInstance instance = guillotine_layout(8, 396, 2000, 1000);
  for (const std::int64_t nodes : {100, 1000, 5000}) {
    const LayoutTable table(instance);
    Budget first({.node_limit = nodes});
    const LayoutMinimum once = minimise_layout(table, {}, first);
    EXPECT_LE(first.nodes(), nodes);
    Budget second({.node_limit = nodes});
    EXPECT_EQ(minimise_layout(table, {}, second).offsets, once.offsets);
  }
}

TEST(LayoutSearch, StartsFromWhatIsKnown) {
  const LayoutInstance instance{
      .buffers = {{.lower = 0, .upper = 2, .size = 4}, {.lower = 1, .upper = 3, .size = 2}}};
  const LayoutTable table(instance);
  Budget budget({.node_limit = 0});
  const std::vector<Bytes> offsets = {0, 4};
  const LayoutMinimum best = minimise_layout(table, {.offsets = offsets}, budget);
  EXPECT_EQ(best.end, LayoutEnd::layout);
  EXPECT_EQ(best.peak, 6);
  EXPECT_EQ(best.offsets, offsets);
}

TEST(LayoutSearch, TellsOfEveryImprovement) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const LayoutInstance instance = tiny_layout(seed, 12);
    const LayoutTable table(instance);
    Budget budget({.node_limit = kEnough});
    LayoutMinimum last;
    int calls = 0;
    const LayoutMinimum best = minimise_layout(
        table, {.capacity = instance.capacity}, budget, [&](const LayoutMinimum& now) {
          if (now.offsets) {
            EXPECT_EQ(layout_fault(instance, *now.offsets, now.peak), "");
          }
          const bool better_peak = now.offsets && (!last.offsets || now.peak < last.peak);
          EXPECT_TRUE(better_peak || now.bound > last.bound);
          EXPECT_GE(now.bound, last.bound);
          last = now;
          ++calls;
        });
    if (calls == 0) continue;
    EXPECT_EQ(last.offsets, best.offsets);
    EXPECT_EQ(last.bound, best.bound);
  }
}

TEST(LayoutSearch, DepthCostsNoRecursion) {
  LayoutInstance chain;
  LayoutInstance twins;
  for (int i = 0; i < 2000; ++i) {
    chain.buffers.push_back({.lower = i, .upper = i + 2, .size = 1 + i % 2});
    twins.buffers.push_back({.lower = 0, .upper = 1, .size = 3});
  }
  EXPECT_EQ(minimum(chain).peak, 3);
  EXPECT_EQ(minimum(twins).peak, 6000);
}

TEST(LayoutSearch, RefusesWhatItCannotList) {
  LayoutInstance instance;
  for (int i = 0; i < 7000; ++i) instance.buffers.push_back({.lower = 0, .upper = 1, .size = 3});
  EXPECT_EQ(minimum(instance).end, LayoutEnd::too_large);
  const LayoutInstance beyond{.buffers = {{.lower = 0, .upper = 1, .size = kMaxExact},
                                          {.lower = 0, .upper = 1, .size = 1}}};
  EXPECT_EQ(minimum(beyond).end, LayoutEnd::too_large);
}

// On such packings, static orders alone fit 20 within the nodes. Only one static order of more than
// seventy finds this layout, almost without backtracking.
TEST(LayoutSearch, GivesEveryOrderAnEarlyTurn) {
  const LayoutInstance packing =
      generate_packing({.kind = PackingGenerator::Kind::ring, .seed = 7002});
  const LayoutMinimum found = minimum(packing, 60'000);
  ASSERT_TRUE(found.offsets);
  EXPECT_EQ(layout_fault(packing, *found.offsets, found.peak), "");
}

TEST(LayoutSearch, FitsGeneratedPackings) {
  using Kind = PackingGenerator::Kind;
  int fitted = 0;
  for (const Kind kind : {Kind::blocks, Kind::ring, Kind::window, Kind::stack, Kind::sections}) {
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      const LayoutInstance packing = generate_packing({.kind = kind, .seed = seed});
      const LayoutTable table(packing);
      Budget budget({.node_limit = 20'000});
      const LayoutMinimum found =
          minimise_layout(table, {.capacity = packing.capacity, .gap = 1}, budget);
      EXPECT_NE(found.end, LayoutEnd::exhausted) << packing.name;
      if (!found.offsets) continue;
      EXPECT_EQ(layout_fault(packing, *found.offsets, found.peak), "") << packing.name;
      EXPECT_NE(found.end, LayoutEnd::budget) << packing.name;
      ++fitted;
    }
  }
  EXPECT_GE(fitted, 22);
}

}  // namespace
}  // namespace stowage::layout_search_test
