// Plans with only groups and their sequences, completed from the instance.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "instances/scatter/json/json.h"
#include "instances/scatter/verify/verify.h"
#include "tests/instances/draw.h"
#include "tests/instances/json_fixture.h"
#include "tests/instances/random_scatter_plan.h"

namespace stowage::scatter_bare_plan_test {
namespace {

using ::testing::HasSubstr;

std::string bare(const ScatterPlan& plan) {
  std::string text = R"({"format": "stowage/plan", "version": 1, "problem": "scatter", "name": ")" +
                     plan.name + R"(", "micro_batches": [)";
  for (const ScatterMicroBatch& micro_batch : plan.micro_batches) {
    text += (text.back() == '[' ? "" : ", ") + std::string("{");
    if (!micro_batch.recomputation.empty()) {
      text += "\"recomputation\": \"" + micro_batch.recomputation + "\", ";
    }
    text += "\"groups\": [";
    for (const ScatterGroup& group : micro_batch.groups) {
      text += text.back() == '[' ? "" : ", ";
      text += "{\"degree\": " + std::to_string(group.degree) +
              ", \"first_rank\": " + std::to_string(group.first_rank) + ", \"sequences\": [";
      for (const std::int64_t id : group.sequences) {
        text += (text.back() == '[' ? "" : ", ") + std::to_string(id);
      }
      text += "]}";
    }
    text += "]}";
  }
  return text + "]}";
}

// Groups name their exchange, or use the only one.
TEST(BarePlan, ExchangesAreNamedWhereThereIsAChoice) {
  ScatterInstance instance{
      .name = "kinds",
      .cluster = {.devices = 4, .devices_per_node = 2, .memory_mib = 1000, .degrees = {1, 2, 4}},
      .model = {.states_mib = 100, .activation_mib_per_token = 1},
      .cost = {.quadratic_ms = 0.01, .linear_ms = 0.5, .fixed_ms = 3},
      .lengths = {100, 64, 80}};
  instance.cost.exchange = Exchange{
      .kinds = {{2, {ExchangeKind::ring}}, {4, {ExchangeKind::all_to_all, ExchangeKind::ring}}},
      .all_to_all_mib_per_token = 2,
      .keys_values_mib_per_token = 0.5,
      .inside_mib_per_ms = 60,
      .across_mib_per_ms = 12};
  const auto plan_of = [&](const std::string& exchange) {
    return complete_scatter_plan(
        R"({"format": "stowage/plan", "version": 1, "problem": "scatter", "name": "kinds",
            "micro_batches": [{"groups": [{"degree": 2, "first_rank": 0, "sequences": [0]},
                                          {"degree": 1, "first_rank": 2, "sequences": [1]}]},
                              {"groups": [{"degree": 4, )" +
            exchange + R"("first_rank": 0, "sequences": [2]}]}]})",
        instance);
  };
  const auto named = plan_of(R"("exchange": "all_to_all", )");
  ASSERT_TRUE(named) << to_string(named.errors()[0]);
  EXPECT_TRUE(verify(instance, *named).empty()) << to_string(verify(instance, *named)[0]);
  EXPECT_EQ(named->micro_batches[0].groups[0].exchange, ExchangeKind::ring);
  EXPECT_EQ(named->micro_batches[0].groups[1].exchange, ExchangeKind::none);
  EXPECT_GT(named->micro_batches[1].groups[0].time_ms, 0);
  for (const char* exchange : {"", R"("exchange": "two_level", )"}) {
    const auto wrong = plan_of(exchange);
    ASSERT_TRUE(wrong);
    ASSERT_FALSE(verify(instance, *wrong).empty());
    EXPECT_EQ(verify(instance, *wrong)[0].rule, "exchange");
  }
}

TEST(BarePlan, IsThePlanThatItWasTakenFrom) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Draw draw(seed);
    const ScatterInstance instance = random_scatter_instance(draw);
    ScatterPlan plan = random_scatter_plan(instance, draw);
    plan.instance_hash = instance_hash(instance);
    const auto read = complete_scatter_plan(bare(plan), instance);
    ASSERT_TRUE(read) << to_string(read.errors()[0]);
    EXPECT_TRUE(verify(instance, *read).empty()) << to_string(verify(instance, *read)[0]);
    EXPECT_EQ(read->instance_hash, plan.instance_hash);
    EXPECT_NEAR(read->objective_ms, plan.objective_ms, 1e-9 * plan.objective_ms);
    EXPECT_EQ(read->bound_ms, 0);
    ASSERT_EQ(read->micro_batches.size(), plan.micro_batches.size());
    for (std::size_t m = 0; m < plan.micro_batches.size(); ++m) {
      for (std::size_t g = 0; g < plan.micro_batches[m].groups.size(); ++g) {
        const ScatterGroup& own = read->micro_batches[m].groups[g];
        const ScatterGroup& its = plan.micro_batches[m].groups[g];
        EXPECT_EQ(own.sequences, its.sequences);
        EXPECT_EQ(own.tokens, its.tokens);
        EXPECT_EQ(own.cu_seqlens, its.cu_seqlens);
      }
    }
    // A complete plan is read unchanged.
    const auto whole = complete_scatter_plan(write_scatter_plan(plan), instance);
    ASSERT_TRUE(whole);
    EXPECT_EQ(*whole, plan);
  }
}

TEST(BarePlan, WhatIsWrongWithItIsForTheVerifier) {
  const ScatterInstance instance{.cluster = {.devices = 2, .memory_mib = 100, .degrees = {1, 2}},
                                 .model = {.activation_mib_per_token = 1},
                                 .cost = {.linear_ms = 1, .all_to_all = {1, {{2, 1.0}}, {}}},
                                 .lengths = {5, 7}};
  const ScatterPlan wrong{
      .micro_batches = {{.groups = {{.degree = 3, .sequences = {0, 9}}, {.degree = 1}}}}};
  const auto read = complete_scatter_plan(bare(wrong), instance);
  ASSERT_TRUE(read);
  std::string rules;
  for (const Violation& violation : verify(instance, *read)) rules += violation.rule + ' ';
  for (const char* rule : {"coverage", "unknown_sequence", "empty_group", "degree"}) {
    EXPECT_THAT(rules, HasSubstr(std::string(rule) + ' '));
  }
  EXPECT_THAT(rules, testing::Not(HasSubstr("objective")));
}

TEST(BarePlan, HasNothingBesides) {
  const auto instance = read_scatter_instance(kValidInstance);
  ASSERT_TRUE(instance);
  const std::string text = bare({.micro_batches = {{.groups = {{.degree = 1, .sequences = {0}}}}}});
  const auto refusal = [&](const char* from, const char* to) {
    const auto read = complete_scatter_plan(with(text, from, to), *instance);
    return read ? "none" : to_string(read.errors()[0]);
  };
  EXPECT_EQ(refusal("\"degree\"", "\"x-a\": 1, \"degree\""), "none");
  EXPECT_THAT(refusal("\"degree\"", "\"tokens\": 1, \"degree\""),
              HasSubstr("E202 /micro_batches/0/groups/0/tokens"));
  EXPECT_THAT(refusal("\"degree\"", "\"x-degree\""),
              HasSubstr("E201 /micro_batches/0/groups/0/degree"));
  // A plan with a hash or an objective counts as complete, and then lacks the other members.
  EXPECT_THAT(refusal("\"micro_batches\"", "\"objective_ms\": 1, \"micro_batches\""),
              HasSubstr("E201 /instance_hash"));
}

}  // namespace
}  // namespace stowage::scatter_bare_plan_test
