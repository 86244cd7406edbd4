// Documents of any family: they are read back unchanged, and others are refused by name.
#include "instances/documents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "instances/families.h"
#include "instances/verify.h"
#include "tests/instances/random_assign.h"
#include "tests/instances/random_layout.h"
#include "tests/instances/random_scatter_plan.h"

namespace stowage::documents_test {
namespace {

using ::testing::IsEmpty;
using ::testing::StartsWith;

// An instance of each of three families, with a plan that is made for it.
std::vector<std::pair<Instance, Plan>> answers(std::uint64_t seed) {
  Draw draw(seed);
  const ScatterInstance scatter = random_scatter_instance(draw);
  ScatterPlan groups = random_scatter_plan(scatter, draw);
  groups.instance_hash = instance_hash(scatter);
  const AssignInstance assign = random_assign_instance(draw);
  AssignPlan rows = random_assign_plan(assign, draw);
  rows.instance_hash = instance_hash(assign);
  const LayoutInstance layout = random_layout(draw);
  LayoutPlan offsets = random_layout_plan(layout, draw);
  offsets.instance_hash = instance_hash(layout);
  return {{scatter, groups}, {assign, rows}, {layout, offsets}};
}

TEST(Documents, ComeBackWhateverTheirFamily) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    for (const auto& [instance, plan] : answers(seed)) {
      const Result<Instance> again = read_instance(write_instance(instance));
      ASSERT_TRUE(again) << to_string(again.errors().front());
      EXPECT_EQ(again->index(), instance.index());
      EXPECT_EQ(instance_hash(*again), instance_hash(instance));
      EXPECT_EQ(write_instance(*again), write_instance(instance));
      const Result<Plan> read = read_plan(write_plan(plan));
      ASSERT_TRUE(read) << to_string(read.errors().front());
      EXPECT_EQ(*read, plan);
      const Result<Plan> of_it = read_plan(write_plan(plan), instance);
      ASSERT_TRUE(of_it) << to_string(of_it.errors().front());
      EXPECT_EQ(*of_it, plan);
      EXPECT_THAT(verify(*again, *read), IsEmpty());
    }
  }
}

TEST(Documents, OfTheWrongKindAreRefused) {
  const auto all = answers(1);
  const auto& [instance, plan] = all.front();
  const Result<Instance> no_instance = read_instance(write_plan(plan));
  ASSERT_FALSE(no_instance);
  EXPECT_EQ(to_string(no_instance.errors().front()),
            "E207 /format: must be stowage/instance, is \"stowage/plan\"");
  const Result<Plan> no_plan = read_plan(write_instance(instance));
  ASSERT_FALSE(no_plan);
  EXPECT_EQ(to_string(no_plan.errors().front()),
            "E207 /format: must be stowage/plan or stowage/outcome, is \"stowage/instance\"");
  EXPECT_FALSE(read_instance("{"));
  EXPECT_FALSE(read_plan("{\"format\": \"stowage/plan\", \"version\": 1, \"problem\": \"none\"}"));
}

TEST(Documents, APlanIsReadForAnInstanceOfItsFamilyOnly) {
  const auto all = answers(2);
  const Result<Plan> other = read_plan(write_plan(all[2].second), all[0].first);
  ASSERT_FALSE(other);
  EXPECT_EQ(to_string(other.errors().front()),
            "E209 /problem: must be \"scatter\" like the instance's, is \"layout\"");
}

TEST(Documents, ABarePlanIsCompletedFromItsInstance) {
  const ScatterInstance two{.name = "two",
                            .cluster = {.devices = 2, .memory_mib = 100, .degrees = {1, 2}},
                            .model = {.activation_mib_per_token = 1},
                            .cost = {.linear_ms = 0.5},
                            .lengths = {64, 80}};
  const std::string bare =
      R"({"format": "stowage/plan", "version": 1, "problem": "scatter", "micro_batches": [{"groups": [
          {"degree": 1, "first_rank": 0, "sequences": [0]},
          {"degree": 1, "first_rank": 1, "sequences": [1]}]}]})";
  const Result<Plan> plan = read_plan(bare, two);
  ASSERT_TRUE(plan) << to_string(plan.errors().front());
  EXPECT_THAT(verify(two, *plan), IsEmpty());
  EXPECT_EQ(std::get<ScatterPlan>(*plan).objective_ms, 40);
  EXPECT_FALSE(read_plan(bare));
}

TEST(Documents, TheHashAndTheNameAreThoseOfTheFamily) {
  for (const auto& [instance, plan] : answers(3)) {
    EXPECT_THAT(instance_hash(instance), StartsWith("fnv1a64:"));
    EXPECT_EQ(family_name(instance), family_name(plan));
    EXPECT_EQ(family_name(instance), Families::names[instance.index()]);
  }
}

}  // namespace
}  // namespace stowage::documents_test
