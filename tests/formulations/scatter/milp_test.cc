#include "formulations/scatter/milp.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "formulations/scatter/lp/class_lp.h"

namespace stowage::scatter_milp_test {
namespace {

ScatterInstance step() {
  return {.cluster = {.devices = 4, .memory_mib = 10, .degrees = {1, 2, 4}},
          .model = {.activation_mib_per_token = 1},
          .cost = {.linear_ms = 1, .fixed_ms = 5},
          .lengths = {20, 10, 10}};
}
const std::vector<LengthClass> kClasses{{20, 1}, {10, 2}};

int rows_named(const milp::Model& model, const std::string& prefix) {
  return static_cast<int>(std::ranges::count_if(
      model.rows(), [&](const milp::Row& row) { return row.name.starts_with(prefix + "_"); }));
}

TEST(ScatterMilp, PublishedModelHasThePublishedRows) {
  const ScatterMilp milp =
      build_scatter_milp(step(), kClasses, {.slots = 1, .strengthened = false});
  const int groups = 3 + 2 + 1;  // virtual groups: at most one per sequence
  EXPECT_EQ(milp.groups.size(), 6U);
  EXPECT_EQ(rows_named(milp.model, "C1"), groups);
  EXPECT_EQ(rows_named(milp.model, "C2"), groups);
  EXPECT_EQ(rows_named(milp.model, "C3"), 1);
  EXPECT_EQ(rows_named(milp.model, "C4"), groups);
  EXPECT_EQ(rows_named(milp.model, "C5"), 2);
  EXPECT_EQ(milp.model.rows().size(), 3U * 6 + 3);
  EXPECT_EQ(milp.model.variables().size(), scatter_milp_variables(step(), kClasses, 1) - 1);
}

TEST(ScatterMilp, StrengthenedModelForbidsWhatCannotFit) {
  const ScatterMilp milp = build_scatter_milp(step(), kClasses, {.slots = 2});
  EXPECT_EQ(milp.open.size(), 2U);
  for (std::size_t group = 0; group < milp.groups.size(); ++group) {
    EXPECT_EQ(milp.assigned[group * 2] < 0, milp.groups[group].degree == 1);
  }
  EXPECT_EQ(rows_named(milp.model, "S4"), 2);
  EXPECT_EQ(rows_named(milp.model, "S5"), 1);
}

TEST(ScatterMilp, EncodedPlansArePointsAndDecodeToThemselves) {
  const std::vector<ClassGroup> groups{{.slot = 0, .degree = 1, .counts = {0, 1}},
                                       {.slot = 0, .degree = 2, .counts = {1, 0}},
                                       {.slot = 1, .degree = 4, .counts = {0, 1}}};
  for (const bool strengthened : {false, true}) {
    const ScatterMilp milp =
        build_scatter_milp(step(), kClasses, {.slots = 2, .strengthened = strengthened});
    const std::vector<double> point = encode(milp, step(), kClasses, groups);
    ASSERT_FALSE(point.empty());
    EXPECT_LE(milp.model.violation(point), 1e-12);
    EXPECT_DOUBLE_EQ(milp.model.objective(point), (5 + 10.0) + (5 + 10.0 / 4));
    const std::vector<ClassGroup> decoded = decode(milp, point);
    ASSERT_EQ(decoded.size(), groups.size());
    for (std::size_t i = 0; i < groups.size(); ++i) {
      EXPECT_EQ(decoded[i].slot, groups[i].slot);
      EXPECT_EQ(decoded[i].degree, groups[i].degree);
      EXPECT_EQ(decoded[i].counts, groups[i].counts);
    }
  }
}

// The second recomputation mode, at 1.5 times the linear cost, in the first micro-batch only.
TEST(ScatterMilp, AMicroBatchRecomputesInOneWay) {
  ScatterInstance instance = step();
  const Mib each = instance.model.activation_mib_per_token;
  instance.model.recomputation = {{.name = "none", .activation_mib_per_token = each},
                                  {.name = "full",
                                   .activation_mib_per_token = each / 2,
                                   .quadratic_factor = 1.5,
                                   .linear_factor = 1.5}};
  std::vector<ClassGroup> groups{{.slot = 0, .degree = 1, .counts = {0, 1}, .recomputation = 1},
                                 {.slot = 0, .degree = 2, .counts = {1, 0}, .recomputation = 1},
                                 {.slot = 1, .degree = 4, .counts = {0, 1}}};
  for (const bool strengthened : {false, true}) {
    const ScatterMilp milp =
        build_scatter_milp(instance, kClasses, {.slots = 2, .strengthened = strengthened});
    if (!strengthened) {
      EXPECT_EQ(milp.model.variables().size(), scatter_milp_variables(instance, kClasses, 2));
    }
    EXPECT_EQ(rows_named(milp.model, "U6"), 2);
    EXPECT_EQ(rows_named(milp.model, "U7"), static_cast<int>(milp.groups.size()));
    std::vector<double> point = encode(milp, instance, kClasses, groups);
    ASSERT_FALSE(point.empty());
    EXPECT_LE(milp.model.violation(point), 1e-12);
    EXPECT_DOUBLE_EQ(milp.model.objective(point), (5 + 1.5 * 10.0) + (5 + 10.0 / 4));
    const std::vector<ClassGroup> decoded = decode(milp, point);
    ASSERT_EQ(decoded.size(), groups.size());
    for (std::size_t i = 0; i < groups.size(); ++i) {
      EXPECT_EQ(decoded[i].recomputation, groups[i].recomputation);
    }
    std::vector<ClassGroup> mixed = groups;
    mixed[1].recomputation = 0;
    point = encode(milp, instance, kClasses, mixed);
    ASSERT_FALSE(point.empty());
    EXPECT_GE(milp.model.violation(point), 1 - 1e-9);
  }
}

// 15 and 7.5 ms: the sum, and the longest three times more.
TEST(ScatterMilp, TheLongestMakespanCountsAgainInAPipeline) {
  const std::vector<ClassGroup> groups{{.slot = 0, .degree = 1, .counts = {0, 1}},
                                       {.slot = 0, .degree = 2, .counts = {1, 0}},
                                       {.slot = 1, .degree = 4, .counts = {0, 1}}};
  for (const bool strengthened : {false, true}) {
    const ScatterMilp milp = build_scatter_milp(
        step(), kClasses, {.slots = 2, .strengthened = strengthened, .stages = 4});
    EXPECT_EQ(rows_named(milp.model, "U5"), 2);
    std::vector<double> point = encode(milp, step(), kClasses, groups);
    ASSERT_FALSE(point.empty());
    EXPECT_LE(milp.model.violation(point), 1e-12);
    EXPECT_DOUBLE_EQ(milp.model.objective(point), 15 + 7.5 + 3 * 15);
    point[static_cast<std::size_t>(milp.longest)] = 14;
    EXPECT_NEAR(milp.model.violation(point), 1, 1e-9);
  }
}

TEST(ScatterMilp, PlansThatDoNotFitTheModelEncodeToNothing) {
  const ScatterMilp milp = build_scatter_milp(step(), kClasses, {.slots = 1});
  EXPECT_TRUE(encode(milp, step(), kClasses, {}).empty());
  const std::vector<ClassGroup> too_many(2, {.slot = 0, .degree = 4, .counts = {0, 1}});
  EXPECT_TRUE(encode(milp, step(), kClasses, too_many).empty());
  EXPECT_TRUE(encode(milp, step(), kClasses, {{.slot = 0, .degree = 1, .counts = {1, 0}}}).empty());
}

// Breaking each rule of the problem by hand breaks the row that carries its number.
TEST(ScatterMilp, EveryRuleHasARow) {
  const ScatterMilp milp =
      build_scatter_milp(step(), kClasses, {.slots = 1, .strengthened = false});
  const std::vector<ClassGroup> groups{{.slot = 0, .degree = 2, .counts = {1, 0}},
                                       {.slot = 0, .degree = 1, .counts = {0, 1}},
                                       {.slot = 0, .degree = 1, .counts = {0, 1}}};
  const std::vector<double> good = encode(milp, step(), kClasses, groups);
  ASSERT_LE(milp.model.violation(good), 1e-12);
  const auto broken_by = [&](int variable, double value) {
    std::vector<double> bad = good;
    bad[static_cast<std::size_t>(variable)] = value;
    return milp.model.violation(bad);
  };
  EXPECT_GT(broken_by(milp.makespan[0], 14.9), 1e-4);      // C1
  EXPECT_GT(broken_by(milp.used[5], 1), 0.1);              // C3: degrees sum to 8
  EXPECT_GT(broken_by(milp.used[0], 0), 0.1);              // C4
  EXPECT_GT(broken_by(milp.assigned[3 * 2], 0), 0.1);      // C5: the long one left out
  EXPECT_GT(broken_by(milp.assigned[0 * 2 + 1], 2), 0.1);  // C2 and C5: 20 tokens on one device
}

TEST(ScatterClassLp, HasNoSolutionOnlyWhereALengthFitsNoDegree) {
  EXPECT_FALSE(build_scatter_class_lp(step(), kClasses, 5 + 20.0 / 4 - 0.1, false).possible);
  EXPECT_TRUE(build_scatter_class_lp(step(), kClasses, 5 + 20.0 / 4, false).possible);
}

}  // namespace
}  // namespace stowage::scatter_milp_test
