#include "formulations/layout/bounds.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tests/instances/random_layout.h"
#include "tests/oracles/layout/brute_force.h"
#include "tests/tiny_layout.h"

namespace stowage::layout_bounds_test {
namespace {

std::string all_of(const LayoutInstance& instance) {
  std::string text;
  for (const NamedBound& bound : layout_bounds(instance, LayoutTable(instance))) {
    text += bound.name + ' ' + std::to_string(static_cast<Bytes>(bound.value)) + '\n';
  }
  return text;
}

TEST(LayoutBounds, AreZeroWithoutBuffers) {
  EXPECT_EQ(all_of({}), "single 0\nload 0\nunit 0\nchain 0\n");
}

TEST(LayoutBounds, TheLargestBufferOrPinEnd) {
  EXPECT_EQ(all_of({.buffers = {{.upper = 2, .size = 30, .gaps = {{0, 2}}}}}),
            "single 30\nload 30\nunit 30\nchain 30\n");
  EXPECT_EQ(all_of({.buffers = {{.upper = 2, .size = 30, .offset = 12}}}),
            "single 42\nload 42\nunit 42\nchain 42\n");
}

TEST(LayoutBounds, TheLoadAndTheUnit) {
  EXPECT_EQ(all_of({.buffers = {{.upper = 2, .size = 30}, {.lower = 1, .upper = 3, .size = 20}}}),
            "single 30\nload 50\nunit 50\nchain 50\n");
  // The pin ends at 25, the others stack to 30 beside it: ends are multiples of 5.
  EXPECT_EQ(all_of({.alignment = 10, .buffers = {{.upper = 2, .size = 5, .offset = 20}}}),
            "single 25\nload 25\nunit 25\nchain 25\n");
}

// The pin ends at 50; stacks of three times 15 bytes have 15, 30 and 45, and 65 on the pin.
TEST(LayoutBounds, TheNextSumOfSizes) {
  const LayoutInstance instance{.buffers = {{.upper = 2, .size = 7, .offset = 43},
                                            {.upper = 2, .size = 15},
                                            {.upper = 2, .size = 15},
                                            {.upper = 2, .size = 15}}};
  EXPECT_EQ(all_of(instance), "single 50\nload 52\nunit 55\nchain 65\n");
}

// No plan is below the bounds.
TEST(LayoutBounds, NoPlanIsBelow) {
  int met = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    Draw draw(seed);
    const LayoutInstance instance = random_layout(draw, {.most_buffers = 9});
    const LayoutTable table(instance);
    Bytes least = kMaxExact;
    for (int k = 0; k < 5; ++k) {
      least = std::min(least, random_layout_plan(instance, draw).peak_bytes);
    }
    double before = 0;
    for (const NamedBound& bound : layout_bounds(instance, table)) {
      ASSERT_GE(bound.value, before) << bound.name << ", seed " << seed;
      before = bound.value;
    }
    ASSERT_LE(before, static_cast<double>(least)) << "seed " << seed;
    met += before == static_cast<double>(least) ? 1 : 0;
  }
  EXPECT_GT(met, 1000);
}

TEST(LayoutBounds, NoneIsAboveTheOptimum) {
  int met = 0;
  for (std::uint64_t seed = 0; seed < 800; ++seed) {
    LayoutInstance instance = tiny_layout(seed, 6);
    instance.capacity.reset();
    const auto best = brute_force(instance);
    if (!best) continue;
    double most = 0;
    for (const NamedBound& bound : layout_bounds(instance, LayoutTable(instance))) {
      EXPECT_LE(bound.value, static_cast<double>(best->peak_bytes)) << bound.name << ' ' << seed;
      most = std::max(most, bound.value);
    }
    met += most == static_cast<double>(best->peak_bytes) ? 1 : 0;
  }
  EXPECT_GT(met, 300);
}

TEST(ReachablePeaks, AreTheSumsOfSizes) {
  const LayoutInstance instance{.buffers = {{.upper = 1, .size = 6},
                                            {.upper = 1, .size = 6},
                                            {.upper = 1, .size = 10},
                                            {.upper = 1, .size = 10}}};
  const ReachablePeaks peaks(LayoutTable(instance), 40);
  ASSERT_TRUE(peaks.listed());
  std::set<Bytes> reachable;
  for (Bytes least = 0; least <= 40; ++least) reachable.insert(peaks.next(least));
  // All 32 bytes are one stack; beyond it nothing is reachable up to 40.
  EXPECT_EQ(reachable, (std::set<Bytes>{0, 6, 10, 12, 16, 20, 22, 26, 32, 41}));
  EXPECT_EQ(peaks.next(13), 16);
  EXPECT_EQ(peaks.next(3), 6);
  EXPECT_EQ(peaks.next(100), 100);
}

TEST(ReachablePeaks, RoundAllButTheTopmostToTheAlignment) {
  const LayoutInstance instance{.alignment = 16,
                                .buffers = {{.upper = 1, .size = 10}, {.upper = 1, .size = 40}}};
  const ReachablePeaks peaks(LayoutTable(instance), 200);
  EXPECT_EQ(peaks.next(1), 10);
  EXPECT_EQ(peaks.next(11), 26);  // 10 on 16
  EXPECT_EQ(peaks.next(27), 40);
  EXPECT_EQ(peaks.next(41), 56);  // 40 on 16
  EXPECT_EQ(peaks.next(57), 58);  // 10 on 48
}

TEST(ReachablePeaks, EveryMultipleOfTheUnitWhereAlignmentsDiffer) {
  const LayoutInstance instance{.buffers = {{.upper = 1, .size = 12, .alignment = 4},
                                            {.upper = 1, .size = 20, .alignment = 8}}};
  const ReachablePeaks peaks(LayoutTable(instance), 40);
  EXPECT_FALSE(peaks.listed());
  EXPECT_EQ(peaks.next(13), 16);
}

TEST(ReachablePeaks, SumsThatAreTooManyAreNotListed) {
  LayoutInstance instance;
  for (int i = 0; i < 1000; ++i) {
    instance.buffers.push_back({.upper = 1, .size = (Bytes{1} << 40) + i});
  }
  const ReachablePeaks peaks(LayoutTable(instance), Bytes{1} << 51);
  EXPECT_FALSE(peaks.listed());
  EXPECT_EQ(peaks.next(17), 17);
}

// Every peak of a settled layout is reachable. Random plans are settled when nothing lies above
// its lowest free offset; those of random_layout_plan in ascending order are.
TEST(ReachablePeaks, HoldEverySettledLayout) {
  int listed = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Draw draw(seed);
    LayoutInstance instance = random_layout(draw, {.most_buffers = 7, .alignments = false});
    instance.alignment = draw.whole(1, 5);
    for (Buffer& buffer : instance.buffers) buffer.offset.reset();
    LayoutPlan plan = random_layout_plan(instance, draw);
    for (bool moved = true; moved;) {  // push down, one at a time
      moved = false;
      for (std::size_t i = 0; i < instance.buffers.size(); ++i) {
        std::vector<std::pair<std::size_t, Bytes>> others;
        for (std::size_t j = 0; j < instance.buffers.size(); ++j) {
          if (j != i) others.emplace_back(j, plan.offsets[j]);
        }
        const Bytes lowest = lowest_offset(instance, i, 0, others);
        if (lowest >= plan.offsets[i]) continue;
        plan.offsets[i] = lowest;
        moved = true;
      }
    }
    restate(instance, plan);
    const ReachablePeaks peaks(LayoutTable(instance), 2000);
    listed += peaks.listed() ? 1 : 0;
    ASSERT_EQ(peaks.next(plan.peak_bytes), plan.peak_bytes) << "seed " << seed;
  }
  EXPECT_GT(listed, 1900);
}

}  // namespace
}  // namespace stowage::layout_bounds_test
