#include "instances/layout/planning_table.h"

#include <gtest/gtest.h>

#include "instances/layout/neighbours.h"
#include "instances/layout/plan_builder.h"
#include "tests/layout_check.h"
#include "tests/tiny_layout.h"

namespace stowage::layout_table_test {
namespace {

LayoutInstance of(std::vector<Buffer> buffers, Bytes alignment = 1) {
  return {.alignment = alignment, .buffers = std::move(buffers)};
}

TEST(LayoutTable, TheExampleOfTheHeader) {
  const LayoutTable table(of({{.lower = 0, .upper = 2, .size = 64},
                              {.lower = 1, .upper = 3, .size = 32},
                              {.lower = 2, .upper = 4, .size = 64}}));
  EXPECT_TRUE(table.conflict(0, 1));
  EXPECT_FALSE(table.conflict(0, 2));
  EXPECT_EQ(table.sections(), 2);
  EXPECT_EQ(table.max_load(), 96);
  EXPECT_EQ(table.unit(), 32);
  EXPECT_EQ(table.components().size(), 1U);
}

TEST(LayoutTable, NothingToPlace) {
  const LayoutTable none(of({}));
  EXPECT_EQ(none.buffers(), 0);
  EXPECT_EQ(none.sections(), 0);
  EXPECT_EQ(none.max_load(), 0);
  EXPECT_EQ(none.unit(), 1);
  EXPECT_TRUE(none.components().empty());
  EXPECT_TRUE(none.stackable());
  const LayoutTable idle(of({{.lower = 0, .upper = 5, .size = 0},
                             {.lower = 0, .upper = 5, .size = 7, .gaps = {{0, 5}}}}));
  EXPECT_TRUE(idle.idle(0));
  EXPECT_TRUE(idle.idle(1));
  EXPECT_EQ(idle.sections(), 0);
  EXPECT_EQ(idle.max_load(), 7);  // its end counts all the same
}

TEST(LayoutTable, SectionsAreMaximalSets) {
  // A staircase: each step adds one and drops one, and a short one inside another's lifetime.
  const LayoutTable table(of({{.lower = 0, .upper = 10, .size = 1},
                              {.lower = 2, .upper = 12, .size = 2},
                              {.lower = 4, .upper = 6, .size = 4},
                              {.lower = 10, .upper = 20, .size = 8},
                              {.lower = 30, .upper = 40, .size = 16}}));
  ASSERT_EQ(table.sections(), 3);  // {0 1 2}, {1 3}, {4}
  EXPECT_EQ(table.load(0), 7);
  EXPECT_EQ(table.load(1), 10);
  EXPECT_EQ(table.load(2), 16);
  EXPECT_EQ(table.hull(1), (SectionRange{0, 2}));
  EXPECT_EQ(table.components(), (std::vector<SectionRange>{{0, 2}, {2, 3}}));
}

TEST(LayoutTable, ConflictsFollowTheDefinition) {
  std::int64_t conflicts = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    const LayoutInstance instance = tiny_layout(seed, 12);
    const LayoutTable table(instance);
    const LayoutNeighbours neighbours(table);
    std::int64_t pairs = 0;
    for (int a = 0; a < table.buffers(); ++a) {
      std::vector<int> expected;
      for (int b = 0; b < table.buffers(); ++b) {
        const Buffer& x = instance.buffers[static_cast<std::size_t>(a)];
        const Buffer& y = instance.buffers[static_cast<std::size_t>(b)];
        const bool together = a != b && x.size > 0 && y.size > 0 && alive_together(x, y);
        EXPECT_EQ(a != b && table.conflict(a, b), together) << seed << ": " << a << ", " << b;
        if (together) expected.push_back(b);
      }
      const auto listed = neighbours.of(a);
      EXPECT_EQ(std::vector<int>(listed.begin(), listed.end()), expected) << seed;
      pairs += static_cast<std::int64_t>(expected.size());
    }
    conflicts += pairs;
    if (table.any_gaps()) {
      EXPECT_GE(count_pairs(table), pairs / 2) << seed;
    } else {
      EXPECT_EQ(count_pairs(table), pairs / 2) << seed;
    }
  }
  EXPECT_GT(conflicts, 10000);
}

TEST(LayoutTable, LoadsAreThoseOfTheSteps) {
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const LayoutInstance instance = tiny_layout(seed, 12);
    const LayoutTable table(instance);
    Bytes most = 0;
    for (std::int64_t step = 0; step < 20; ++step) {
      Bytes load = 0;
      for (const Buffer& buffer : instance.buffers) {
        if (needs_memory(buffer, step)) load += buffer.size;
      }
      most = std::max(most, load);
    }
    Bytes largest = 0;
    for (int s = 0; s < table.sections(); ++s) largest = std::max(largest, table.load(s));
    EXPECT_EQ(largest, most) << seed;
    EXPECT_GE(table.max_load(), most) << seed;
    EXPECT_EQ(table.max_load() % table.unit(), 0) << seed;
  }
}

TEST(LayoutTable, AlignmentIsTheLeastCommonMultiple) {
  const LayoutTable table(of({{.lower = 0, .upper = 1, .size = 1, .alignment = 4},
                              {.lower = 0, .upper = 1, .size = 1, .alignment = 3}},
                             6));
  EXPECT_EQ(table.alignment(0), 12);
  EXPECT_EQ(table.alignment(1), 6);
  EXPECT_EQ(table.aligned(0, 0), 0);
  EXPECT_EQ(table.aligned(0, 1), 12);
  EXPECT_EQ(table.aligned(0, 12), 12);
}

TEST(LayoutTable, SumsBeyondExactIntegersAreNotStackable) {
  const Buffer huge{.lower = 0, .upper = 1, .size = kMaxExact};
  EXPECT_TRUE(LayoutTable(of({huge})).stackable());
  EXPECT_FALSE(LayoutTable(of({huge, huge})).stackable());
  EXPECT_FALSE(LayoutTable(of(std::vector<Buffer>(5000, huge))).stackable());
  const Buffer coarse{.lower = 0, .upper = 1, .size = 1, .alignment = kMaxExact};
  EXPECT_TRUE(LayoutTable(of({coarse})).stackable());
  EXPECT_FALSE(LayoutTable(of({coarse}, kMaxExact - 1)).stackable());
}

TEST(LayoutTable, TwinsShareSizeAlignmentAndSections) {
  const LayoutTable table(of({{.lower = 0, .upper = 2, .size = 8},
                              {.lower = 1, .upper = 2, .size = 8},  // another lifetime, one section
                              {.lower = 0, .upper = 2, .size = 8, .alignment = 2},
                              {.lower = 0, .upper = 2, .size = 8, .offset = 32},
                              {.lower = 0, .upper = 2, .size = 8}}));
  ASSERT_EQ(table.sections(), 1);
  EXPECT_EQ(table.twin_before(0), -1);
  EXPECT_EQ(table.twin_before(1), 0);
  EXPECT_EQ(table.twin_before(2), -1);
  EXPECT_EQ(table.twin_before(3), -1);
  EXPECT_EQ(table.twin_before(4), 1);
}

TEST(LayoutTable, PinsThatClashAreNamed) {
  const Buffer low{.lower = 0, .upper = 4, .size = 8, .offset = 0};
  const Buffer high{.lower = 2, .upper = 6, .size = 8, .offset = 8};
  const Buffer across{.lower = 3, .upper = 5, .size = 4, .offset = 6};
  Buffer elsewhen = across;
  elsewhen.gaps = {{3, 4}};
  EXPECT_EQ(LayoutTable(of({low, high})).clash(), std::nullopt);
  EXPECT_EQ(LayoutTable(of({low, across})).clash(), (std::pair{0, 1}));
  EXPECT_EQ(LayoutTable(of({low, elsewhen})).clash(), std::nullopt);
  EXPECT_EQ(LayoutTable(of({high, low, across})).clash()->second, 2);
  int clashes = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    const LayoutInstance instance = tiny_layout(seed, 12);
    bool expected = false;
    for (const Buffer& a : instance.buffers) {
      for (const Buffer& b : instance.buffers) {
        expected = expected || (&a != &b && a.offset && b.offset && a.size > 0 && b.size > 0 &&
                                *a.offset < *b.offset + b.size && *b.offset < *a.offset + a.size &&
                                alive_together(a, b));
      }
    }
    EXPECT_EQ(LayoutTable(instance).clash().has_value(), expected) << seed;
    clashes += expected;
  }
  EXPECT_GT(clashes, 50);
}

TEST(LayoutTable, TheWayAroundPins) {
  const LayoutTable table(of({{.lower = 0, .upper = 1, .size = 4, .alignment = 3},
                              {.lower = 0, .upper = 1, .size = 2, .offset = 5},
                              {.lower = 0, .upper = 1, .size = 1, .offset = 10},
                              {.lower = 1, .upper = 2, .size = 9, .offset = 0}}));
  EXPECT_EQ(table.clear_of_pins(0, 0), 0);
  // offsets 3 and 6 overlap the buffer pinned at 5, offset 9 the buffer pinned at 10
  EXPECT_EQ(table.clear_of_pins(0, 1), 12);
}

TEST(LayoutTable, AHundredThousandBuffersAreFoldedWithoutTheirPairs) {
  LayoutInstance instance;
  for (std::int64_t i = 0; i < 100'000; ++i) {
    instance.buffers.push_back({.lower = i, .upper = 200'000 - i, .size = 1});
  }
  const LayoutTable table(instance);
  EXPECT_EQ(table.sections(), 1);
  EXPECT_EQ(table.max_load(), 100'000);
  EXPECT_EQ(count_pairs(table), std::int64_t{100'000} * 99'999 / 2);
}

TEST(LayoutCompose, ThePeakIsTheHighestEnd) {
  const LayoutInstance instance =
      of({{.lower = 0, .upper = 1, .size = 5}, {.lower = 1, .upper = 2, .size = 3}});
  const LayoutPlan plan = compose_layout(instance, {0, 4});
  EXPECT_EQ(plan.peak_bytes, 7);
  EXPECT_EQ(plan.offsets, (std::vector<Bytes>{0, 4}));
  EXPECT_EQ(compose_layout(of({}), {}).peak_bytes, 0);
}

}  // namespace
}  // namespace stowage::layout_table_test
