#include "formulations/layout/mip.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "instances/layout/plan_builder.h"
#include "instances/layout/verify/verify.h"
#include "instances/violation.h"
#include "tests/instances/random_layout.h"

namespace stowage::layout_mip_test {
namespace {

int rows_named(const milp::Model& model, const std::string& prefix) {
  return static_cast<int>(std::ranges::count_if(
      model.rows(), [&](const milp::Row& row) { return row.name.starts_with(prefix + "_"); }));
}

int integers(const milp::Model& model) {
  return static_cast<int>(std::ranges::count_if(
      model.variables(), [](const milp::Variable& variable) { return variable.integer; }));
}

// a and b are twins, c is alive with both, d with c alone.
LayoutInstance four() {
  return {.buffers = {{.id = "a", .lower = 0, .upper = 3, .size = 200},
                      {.id = "b", .lower = 0, .upper = 3, .size = 200},
                      {.id = "c", .lower = 2, .upper = 6, .size = 300},
                      {.id = "d", .lower = 4, .upper = 8, .size = 400}}};
}

TEST(LayoutMip, ThePublishedModelHasAnOrderForEveryPair) {
  const LayoutMip mip = build_layout_mip(LayoutTable(four()), {.strengthened = false});
  EXPECT_EQ(mip.unit, 1);
  EXPECT_EQ(rows_named(mip.model, "D1"), 4);
  EXPECT_EQ(rows_named(mip.model, "D2"), 2 * 4);
  EXPECT_EQ(mip.model.rows().size(), 12U);
  EXPECT_EQ(integers(mip.model), 4);
  EXPECT_EQ(mip.model.variables()[static_cast<std::size_t>(mip.peak)].lower, 0);
}

TEST(LayoutMip, TheStrengthenedModelFixesWhatItCan) {
  const LayoutMip mip = build_layout_mip(LayoutTable(four()), {.most = 800, .least = 650});
  EXPECT_EQ(mip.unit, 100);                                                            // E3
  EXPECT_EQ(mip.model.variables()[static_cast<std::size_t>(mip.peak)].lower, 7);       // E1
  EXPECT_EQ(mip.model.variables()[static_cast<std::size_t>(mip.offset[3])].upper, 4);  // E2
  EXPECT_EQ(rows_named(mip.model, "E4"), 1);                                           // twins
  EXPECT_EQ(integers(mip.model), 1 + 3);  // P and three orders
}

TEST(LayoutMip, PinsAreFixedAndOrderTheirNeighbours) {
  LayoutInstance instance = four();
  instance.buffers[2].offset = 100;  // nothing of 200 fits below it
  const LayoutTable table(instance);
  const LayoutMip mip = build_layout_mip(table, {.most = 900});
  const milp::Variable& pinned = mip.model.variables()[static_cast<std::size_t>(mip.offset[2])];
  EXPECT_EQ(pinned.lower, pinned.upper);
  EXPECT_EQ(pinned.lower, 0.5);       // ends are multiples of 200, not offsets
  EXPECT_EQ(integers(mip.model), 1);  // all pairs have one order left
  EXPECT_TRUE(build_layout_mip(table, {.most = 300}).empty);
}

TEST(LayoutMip, AlignedOffsetsAreIntegerMultiples) {
  LayoutInstance instance = four();
  instance.buffers[3].alignment = 600;
  const LayoutMip mip = build_layout_mip(LayoutTable(instance), {});
  EXPECT_EQ(mip.unit, 100);
  EXPECT_EQ(mip.multiple[3], 6);
  EXPECT_TRUE(mip.model.variables()[static_cast<std::size_t>(mip.offset[3])].integer);
  EXPECT_FALSE(mip.model.variables()[static_cast<std::size_t>(mip.offset[2])].integer);
}

TEST(LayoutMip, ABoundAboveTheKnownLayoutLeavesNothing) {
  EXPECT_TRUE(build_layout_mip(LayoutTable(four()), {.most = 600, .least = 700}).empty);
}

// Every valid plan is a point of the model with the plan's peak, and comes back no higher.
TEST(LayoutMip, PlansArePointsAndComeBack) {
  int encoded = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Draw draw(seed);
    const LayoutInstance instance = random_layout(draw, {.most_buffers = 10});
    const LayoutTable table(instance);
    const LayoutPlan plan = random_layout_plan(instance, draw);
    for (const bool strengthened : {false, true}) {
      const LayoutMip mip =
          build_layout_mip(table, {.strengthened = strengthened, .least = table.max_load()});
      ASSERT_FALSE(mip.empty);
      const std::vector<double> point = encode(mip, table, plan.offsets);
      if (point.empty()) {  // higher than any layout needs to be
        const Bytes unit = strengthened ? table.unit() : 1;
        ASSERT_GT(plan.peak_bytes, table.stack() / unit * unit);
        continue;
      }
      ++encoded;
      ASSERT_LE(mip.model.violation(point), 1e-9) << "seed " << seed;
      const Bytes peak = std::max(plan.peak_bytes, strengthened ? table.max_load() : 0);
      const Bytes whole = (peak + mip.unit - 1) / mip.unit * mip.unit;
      ASSERT_NEAR(mip.model.objective(point), static_cast<double>(whole), 1e-6);
      LayoutPlan back = compose_layout(instance, decode(mip, table, point));
      EXPECT_LE(back.peak_bytes, plan.peak_bytes) << "seed " << seed;
      for (const Violation& v : verify(instance, back)) ADD_FAILURE() << to_string(v);
    }
  }
  EXPECT_GT(encoded, 3000);
}

}  // namespace
}  // namespace stowage::layout_mip_test
