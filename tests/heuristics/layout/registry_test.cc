#include "heuristics/layout/registry.h"

#include <gtest/gtest.h>

#include <map>

#include "heuristics/layout/construct/buffer_orders.h"
#include "heuristics/layout/construct/dive.h"
#include "heuristics/layout/construct/gap_fit.h"
#include "heuristics/layout/construct/stack_all.h"
#include "instances/layout/planning_table.h"
#include "tests/guillotine_layout.h"
#include "tests/layout_check.h"
#include "tests/tiny_layout.h"

namespace stowage::layout_registry_test {
namespace {

std::optional<LayoutPlan> plan_by(const std::string& name, const LayoutInstance& instance) {
  for (const LayoutHeuristic& heuristic : heuristics(instance)) {
    if (heuristic.name == name) return heuristic.run(instance, LayoutTable(instance), 1, Budget());
  }
  ADD_FAILURE() << "no heuristic " << name;
  return std::nullopt;
}

TEST(LayoutRegistry, EveryPlanIsALayout) {
  std::map<std::string, int> planned;
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    const LayoutInstance instance = tiny_layout(seed, 14);
    const LayoutTable table(instance);
    for (const LayoutHeuristic& heuristic : heuristics(instance)) {
      if (heuristic.name == "reinsert" && seed % 20 != 0) continue;  // it takes its time
      if (heuristic.name == "usmp-hill-climb" && seed % 5 != 0) continue;
      const auto plan =
          heuristic.run(instance, LayoutTable(instance), seed, Budget({.time_limit_s = 0.05}));
      if (plan) {
        EXPECT_EQ(layout_fault(instance, plan->offsets, plan->peak_bytes), "")
            << heuristic.name << ", seed " << seed;
        ++planned[heuristic.name];
      } else {
        EXPECT_TRUE(table.clash() || instance.capacity) << heuristic.name << ", seed " << seed;
      }
    }
  }
  EXPECT_EQ(planned.size(), 9U);
  for (const auto& [name, count] : planned) EXPECT_GT(count, 20) << name;
}

TEST(LayoutRegistry, OddInstances) {
  const Buffer unit{.lower = 0, .upper = 1, .size = 1};
  LayoutInstance disjoint;
  LayoutInstance overlapping;
  for (int i = 0; i < 50; ++i) {
    disjoint.buffers.push_back({.lower = i, .upper = i + 1, .size = 1 + i, .alignment = 1000});
    overlapping.buffers.push_back({.lower = 0, .upper = 1, .size = 1 + i});
  }
  const LayoutInstance none;
  const LayoutInstance huge{
      .buffers = {{.lower = 0, .upper = 1, .size = kMaxExact - 2}, unit, unit}};
  for (const LayoutHeuristic& heuristic : heuristics(none)) {
    EXPECT_EQ(heuristic.run(none, LayoutTable(none), 1, Budget())->peak_bytes, 0) << heuristic.name;
    EXPECT_EQ(heuristic.run(disjoint, LayoutTable(disjoint), 1, Budget())->peak_bytes, 50)
        << heuristic.name;
    EXPECT_EQ(heuristic.run(overlapping, LayoutTable(overlapping), 1, Budget())->peak_bytes, 1275)
        << heuristic.name;
    EXPECT_EQ(heuristic.run(huge, LayoutTable(huge), 1, Budget())->peak_bytes, kMaxExact)
        << heuristic.name;
    LayoutInstance beyond = huge;
    beyond.buffers.push_back(unit);
    EXPECT_FALSE(heuristic.run(beyond, LayoutTable(beyond), 1, Budget())) << heuristic.name;
    LayoutInstance tight = overlapping;
    tight.capacity = 1274;
    EXPECT_FALSE(heuristic.run(tight, LayoutTable(tight), 1, Budget())) << heuristic.name;
  }
}

TEST(LayoutRegistry, TheSameSeedGivesTheSamePlan) {
  const LayoutInstance instance = guillotine_layout(5, 40, 100, 100);
  for (const LayoutHeuristic& heuristic : heuristics(instance)) {
    EXPECT_EQ(heuristic.run(instance, LayoutTable(instance), 3, Budget()),
              heuristic.run(instance, LayoutTable(instance), 3, Budget()))
        << heuristic.name;
  }
}

TEST(LayoutRegistry, ThoroughIsNoWorseThanQuick) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    const LayoutInstance instance = guillotine_layout(seed, 60, 100, 100);
    const Bytes fast = plan_by("fast", instance)->peak_bytes;
    EXPECT_LE(plan_by("reinsert", instance)->peak_bytes, fast);
    EXPECT_LE(plan_by("best-fit", instance)->peak_bytes,
              plan_by("best-fit-temporal", instance)->peak_bytes);
  }
}

// Dives ignore gaps in lifetimes, and with coarse alignments plain fits are sometimes better.
TEST(LayoutRegistry, FastIsNoWorseThanAnyCheapBaseline) {
  int dives_lost = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    LayoutInstance instance = tiny_layout(seed, 40);
    instance.capacity.reset();
    const LayoutTable table(instance);
    if (table.clash()) continue;
    const Bytes fast = plan_by("fast", instance)->peak_bytes;
    Bytes fits = kMaxExact;
    for (const char* name : {"greedy-size", "first-fit", "best-fit-spatial", "best-fit-temporal",
                             "best-fit", "online-best-fit"}) {
      const Bytes peak = plan_by(name, instance)->peak_bytes;
      EXPECT_LE(fast, peak) << name << ", seed " << seed;
      fits = std::min(fits, peak);
    }
    Bytes dives = kMaxExact;
    for (const char* keys : {"TWA", "ZW", "TCA", "LZ", "AT", "UOZ"}) {
      const auto dive = canonical_dive(table, static_order(table, keys), Budget());
      dives = std::min(dives, table.peak(dive.value()));
    }
    dives_lost += fits < dives;
  }
  EXPECT_GT(dives_lost, 5);
}

// Gaps between placed buffers of 2 and 1 bytes; the third rule needs both to be looked at.
TEST(LayoutFit, LowestAndSmallestGap) {
  const LayoutInstance instance{.buffers = {{.lower = 0, .upper = 1, .size = 2, .offset = 2},
                                            {.lower = 0, .upper = 1, .size = 2, .offset = 5},
                                            {.lower = 0, .upper = 1, .size = 1},
                                            {.lower = 0, .upper = 1, .size = 3}}};
  const LayoutTable table(instance);
  EXPECT_EQ(fit_in_order(table, {2, 3}, GapRule::lowest, Budget()),
            (std::vector<Bytes>{2, 5, 0, 7}));
  EXPECT_EQ(fit_in_order(table, {2, 3}, GapRule::smallest, Budget()),
            (std::vector<Bytes>{2, 5, 4, 7}));
  EXPECT_FALSE(fit_in_order(table, {2, 3}, GapRule::lowest, Budget({.time_limit_s = 0})));
}

}  // namespace
}  // namespace stowage::layout_registry_test
