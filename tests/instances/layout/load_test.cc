#include "instances/layout/load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/instances/random_layout.h"

namespace stowage::layout_load_test {
namespace {

using ::testing::ElementsAre;
using Reason = LayoutInfeasibility::Reason;

// Computes each step of each instance separately, by the definition.
PeakLoad slow_peak_load(const LayoutInstance& instance) {
  Bytes unit = 0;
  for (const Buffer& b : instance.buffers) {
    if (b.size > 0) unit = std::gcd(unit, alignment_of(instance, b));
  }
  PeakLoad peak;
  for (std::int64_t step = 0; step < 100; ++step) {
    Bytes blocks = 0;
    Bytes cut = 0;
    for (const std::int64_t i : needing_memory_at(instance, step)) {
      const Bytes size = instance.buffers[static_cast<std::size_t>(i)].size;
      const Bytes rounded = (size + unit - 1) / unit * unit;
      blocks += rounded;
      cut = std::max(cut, rounded - size);
    }
    if (blocks - cut > peak.load) peak = {step, blocks - cut};
  }
  return peak;
}

TEST(PeakLoad, IsTheLargestSumOfAnyStep) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Draw draw(seed);
    const LayoutInstance instance = random_layout(draw);
    ASSERT_EQ(peak_load(instance), slow_peak_load(instance)) << "seed " << seed;
  }
}

TEST(PeakLoad, NoPlanIsBelowIt) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Draw draw(seed);
    const LayoutInstance instance = random_layout(draw, {.most_buffers = 8});
    ASSERT_LE(peak_load(instance).load, random_layout_plan(instance, draw).peak_bytes)
        << "seed " << seed;
  }
}

TEST(PeakLoad, CountsWholeBlocksButTheTopmost) {
  LayoutInstance instance{.alignment = 8,
                          .buffers = {{.lower = 0, .upper = 2, .size = 9},
                                      {.lower = 1, .upper = 2, .size = 3},
                                      {.lower = 1, .upper = 2, .size = 16}}};
  EXPECT_EQ(peak_load(instance), (PeakLoad{1, 16 + 8 + 9}));
  instance.buffers[0].alignment = 3;  // 24 is a multiple of 8 still
  EXPECT_EQ(peak_load(instance).load, 33);
  instance.alignment = 1;
  instance.buffers[0].alignment = 1;
  EXPECT_EQ(peak_load(instance).load, 28);
}

TEST(PeakLoad, IsZeroWhereNothingNeedsMemory) {
  EXPECT_EQ(peak_load({}), PeakLoad{});
  EXPECT_EQ(peak_load({.buffers = {{.lower = 3, .upper = 9, .size = 0, .alignment = 4}}}),
            PeakLoad{});
  EXPECT_EQ(peak_load({.buffers = {{.lower = 3, .upper = 9, .size = 5, .gaps = {{3, 9}}}}}),
            PeakLoad{});
}

TEST(Needs, AreTheLifetimeWithoutTheGaps) {
  Buffer buffer{.lower = 2, .upper = 9};
  EXPECT_THAT(needs_of(buffer), ElementsAre(Lifetime{2, 9}));
  buffer.gaps = {{2, 4}, {5, 6}, {8, 9}};
  EXPECT_THAT(needs_of(buffer), ElementsAre(Lifetime{4, 5}, Lifetime{6, 8}));
}

LayoutInstance pinned(Bytes first, Bytes second) {
  return {.buffers = {{.id = "a", .lower = 0, .upper = 5, .size = 10, .offset = first},
                      {.id = "b", .lower = 3, .upper = 9, .size = 10, .offset = second},
                      {.id = "c", .lower = 0, .upper = 9, .size = 10}}};
}

TEST(Infeasibility, NamesClashingPins) {
  const auto why = layout_infeasibility(pinned(0, 9));
  ASSERT_TRUE(why);
  EXPECT_EQ(why->reason, Reason::pins_clash);
  EXPECT_EQ(why->step, 3);
  EXPECT_THAT(why->buffers, ElementsAre(0, 1));
  EXPECT_EQ(why->text,
            "buffer a is pinned to bytes [0, 10) and buffer b is pinned to bytes [9, 19), and both "
            "are needed at step 3");
  EXPECT_FALSE(layout_infeasibility(pinned(0, 10)));
  LayoutInstance apart = pinned(0, 0);
  apart.buffers[1].gaps = {{3, 5}};
  EXPECT_FALSE(layout_infeasibility(apart));
  apart.buffers[1].gaps = {{3, 4}};
  EXPECT_EQ(layout_infeasibility(apart)->step, 4);
}

TEST(Infeasibility, EveryClashingBufferIsToldOnce) {
  LayoutInstance instance;
  instance.buffers.resize(5, {.lower = 0, .upper = 2, .size = 3, .offset = 0});
  instance.buffers[4].gaps = {{0, 1}};
  EXPECT_THAT(pin_clashes(instance), ElementsAre(PinClash{0, 1, 0}, PinClash{0, 2, 0},
                                                 PinClash{0, 3, 0}, PinClash{0, 4, 1}));
}

TEST(Infeasibility, NamesAPinAboveTheCapacity) {
  LayoutInstance instance = pinned(0, 30);
  instance.capacity = 39;
  const auto why = layout_infeasibility(instance);
  ASSERT_TRUE(why);
  EXPECT_EQ(why->reason, Reason::pin_above_capacity);
  EXPECT_EQ(why->step, std::nullopt);
  EXPECT_THAT(why->buffers, ElementsAre(1));
  EXPECT_EQ(why->text, "buffer b is pinned to bytes [30, 40), beyond the capacity of 39 bytes");
  instance.capacity = 40;
  EXPECT_FALSE(layout_infeasibility(instance));
}

TEST(Infeasibility, NamesTheStepThatNeedsMoreThanTheCapacity) {
  LayoutInstance instance{.capacity = 29,
                          .buffers = {{.id = "a", .lower = 0, .upper = 5, .size = 10},
                                      {.id = "", .lower = 3, .upper = 9, .size = 10},
                                      {.id = "c", .lower = 0, .upper = 9, .size = 10},
                                      {.id = "d", .lower = 0, .upper = 9, .size = 0}}};
  const auto why = layout_infeasibility(instance);
  ASSERT_TRUE(why);
  EXPECT_EQ(why->reason, Reason::load_above_capacity);
  EXPECT_EQ(why->step, 3);
  EXPECT_THAT(why->buffers, ElementsAre(0, 1, 2));
  EXPECT_EQ(why->text, "step 3 needs 30 bytes, and the capacity is 29 bytes: buffers a, 1, c");
  instance.capacity = 30;
  EXPECT_FALSE(layout_infeasibility(instance));
}

// An instance that is called infeasible has no plan. The random plans of random_layout have no
// capacity.
TEST(Infeasibility, IsNeverSaidOfWhatHasAPlan) {
  int tight = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Draw draw(seed);
    LayoutInstance instance = random_layout(draw);
    const LayoutPlan plan = random_layout_plan(instance, draw);
    ASSERT_FALSE(layout_infeasibility(instance)) << "seed " << seed;
    instance.capacity = plan.peak_bytes;
    ASSERT_FALSE(layout_infeasibility(instance)) << "seed " << seed;
    if (plan.peak_bytes == 0 || plan.peak_bytes > peak_load(instance).load) continue;
    ++tight;
    instance.capacity = plan.peak_bytes - 1;
    ASSERT_TRUE(layout_infeasibility(instance)) << "seed " << seed;
  }
  EXPECT_GT(tight, 50);
}

}  // namespace
}  // namespace stowage::layout_load_test
