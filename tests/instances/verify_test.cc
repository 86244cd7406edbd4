// Functions for instances and proofs of any family.
#include "instances/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "instances/families.h"
#include "instances/order/plan_builder.h"

namespace stowage::verify_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The second of its two sequences is longer than both devices hold together.
ScatterInstance too_long() {
  return {.name = "two",
          .cluster = {.devices = 2, .memory_mib = 100, .degrees = {1, 2}},
          .model = {.activation_mib_per_token = 1},
          .cost = {.linear_ms = 0.5},
          .lengths = {64, 201}};
}

OrderInstance two_operators() {
  return {.name = "two",
          .tensors = {{.id = "a", .size = 3}, {.id = "b", .size = 4}},
          .operators = {{.id = "f", .writes = {0}}, {.id = "g", .reads = {0}, .writes = {1}}}};
}

std::vector<std::string> rules_of(const std::vector<Violation>& violations) {
  std::vector<std::string> rules;
  for (const Violation& violation : violations) rules.push_back(violation.rule);
  return rules;
}

TEST(Plans, AreCheckedByTheFamilyOfTheInstance) {
  const OrderInstance graph = two_operators();
  const OrderTable table(graph);
  OrderPlan plan = compose_order(graph, table, std::vector<int>{0, 1});
  plan.instance_hash = instance_hash(graph);
  const auto rules = [&] { return rules_of(verify(Instance(graph), Plan(plan))); };
  EXPECT_THAT(rules(), IsEmpty());
  plan.peak_bytes = 6;
  EXPECT_THAT(rules(), ElementsAre("peak"));
  // Of a plan of another instance nothing else is said.
  plan.instance_hash = "fnv1a64:0000000000000001";
  EXPECT_THAT(rules(), ElementsAre("instance_hash"));
  // A plan that names no instance is checked by all rules.
  plan.instance_hash = "";
  EXPECT_THAT(rules(), ElementsAre("instance_hash", "peak"));
  EXPECT_THAT(rules_of(verify(Instance(too_long()), Plan(plan))), ElementsAre("problem"));
}

TEST(Infeasibility, IsCheckedByTheFamilyOfTheInstance) {
  const Instance instance = too_long();
  EXPECT_THAT(check_infeasibility(instance, {.by = "sequences", .witnesses = {1}}), IsEmpty());
  EXPECT_THAT(rules_of(check_infeasibility(instance, {.by = "sequences", .witnesses = {0}})),
              ElementsAre(kInfeasibilityWitness));
  EXPECT_THAT(rules_of(check_infeasibility(Instance(LayoutInstance{}), {.by = "sequences"})),
              ElementsAre(kInfeasibilityBy));
  ScatterInstance broken = too_long();
  broken.pad_multiple = 0;
  EXPECT_THAT(
      rules_of(check_infeasibility(Instance(broken), {.by = "sequences", .witnesses = {1}})),
      ElementsAre("instance"));
}

TEST(Certificates, AreCheckedByTheFamilyOfTheInstance) {
  ScatterInstance step = too_long();
  step.lengths = {64, 80};
  // An empty certificate proves a bound of 0 and no positive bound.
  const CheckedCertificate none = check_certificate(step, Certificate(ScatterCertificate{}));
  const CheckedCertificate more =
      check_certificate(step, Certificate(ScatterCertificate{.bound_ms = 5}));
  EXPECT_FALSE(more.violations.empty());
  EXPECT_EQ(more.bound, 0);
  EXPECT_EQ(none.bound, 0);
  const Instance graph = two_operators();
  const CheckedCertificate other = check_certificate(graph, Certificate(ScatterCertificate{}));
  EXPECT_THAT(rules_of(other.violations), ElementsAre("problem"));
  step.pad_multiple = 0;
  EXPECT_THAT(rules_of(check_certificate(step, Certificate(ScatterCertificate{})).violations),
              ElementsAre("instance"));
}

TEST(Certificates, AreValues) {
  const Certificate five(ScatterCertificate{.bound_ms = 5});
  Certificate copy = five;
  Certificate moved = std::move(copy);
  Certificate other(OrderCertificate{});
  EXPECT_EQ(std::get<ScatterCertificate>(moved.any()).bound_ms, 5);
  other = moved;
  EXPECT_EQ(std::get<ScatterCertificate>(other.any()).bound_ms, 5);
  EXPECT_NE(&other.any(), &moved.any());
  moved = Certificate(OrderCertificate{});
  EXPECT_EQ(std::get<ScatterCertificate>(five.any()).bound_ms, 5);
  EXPECT_TRUE(std::holds_alternative<OrderCertificate>(moved.any()));
}

}  // namespace
}  // namespace stowage::verify_test
