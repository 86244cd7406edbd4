// Each rule of the verifier with a plan that breaks it and a similar valid plan.
#include "instances/scatter/verify/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <limits>
#include <set>
#include <sstream>
#include <vector>

#include "instances/scatter/plan_builder.h"
#include "instances/violation.h"
#include "tests/instances/scatter/changed_plan.h"
#include "tests/instances/scatter/rule_changes.h"
#include "tests/instances/scatter/sum_changes.h"

namespace stowage::scatter_verify_test {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;

class OneChange : public testing::TestWithParam<Case> {};

TEST_P(OneChange, BreaksExactlyTheseRules) {
  ScatterInstance instance = eight_devices();
  ScatterPlan plan = good_plan();
  GetParam().change(instance, plan);
  const auto violations = verify(instance, plan);
  EXPECT_EQ(broken_rules(violations), GetParam().rules) << all_of(violations);
  for (const Violation& violation : violations) {
    EXPECT_THAT(scatter_verify_rules(), Contains(violation.rule));
  }
}

std::vector<Case> all_changes() {
  std::vector<Case> all(std::begin(kRuleChanges), std::end(kRuleChanges));
  all.insert(all.end(), std::begin(kSumChanges), std::end(kSumChanges));
  return all;
}

INSTANTIATE_TEST_SUITE_P(Verify, OneChange, testing::ValuesIn(all_changes()),
                         [](const auto& each) { return each.param.name; });

// A mode that the model does not list, or a time that is no number, is one violation: what follows
// from it stays as stated.
TEST(Verify, WhatIsUnknownIsReportedOnce) {
  ScatterInstance instance = eight_devices();
  instance.lengths = {400, 400};
  instance.model.recomputation = {
      {.name = "none", .activation_mib_per_token = 1},
      {.name = "full", .activation_mib_per_token = 1, .linear_factor = 2}};
  const auto all = [](std::int64_t id) {
    return MicroBatchChoice{{.degree = 8, .sequences = {id}, .recomputation = 1}};
  };
  const ScatterPlan plan = compose_plan(instance, {all(0), all(1)});
  const auto rules = [&](const ScatterPlan& changed) {
    return broken_rules(verify(instance, changed));
  };
  EXPECT_THAT(rules(plan), IsEmpty()) << all_of(verify(instance, plan));
  ScatterPlan changed = plan;
  changed.micro_batches[1].recomputation = "half";
  EXPECT_THAT(rules(changed), testing::ElementsAre("recomputation"));
  changed = plan;
  changed.micro_batches[1].recomputation = "half";
  changed.micro_batches[1].groups[0].time_ms = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(rules(changed), testing::UnorderedElementsAre("recomputation", "number"));
}

// The cluster above with kinds of exchange: 4 and 8 ranks may form a ring or exchange all at once.
TEST(Verify, ExchangesAreOnesThatTheDegreeMayUse) {
  ScatterInstance instance = eight_devices();
  using enum ExchangeKind;
  instance.cost.all_to_all = {};
  instance.cost.exchange = Exchange{.kinds = {{2, {ring}}, {4, {all_to_all, ring}}, {8, {ring}}},
                                    .all_to_all_mib_per_token = 1,
                                    .inside_mib_per_ms = 2};
  instance.lengths = {390, 200};
  const auto plan_with = [](ExchangeKind four, ExchangeKind two, Ms time) {
    return ScatterPlan{.objective_ms = time,
                       .micro_batches = {{.makespan_ms = time,
                                          .groups = {{.degree = 4,
                                                      .sequences = {0},
                                                      .tokens = 392,
                                                      .time_ms = time,
                                                      .cu_seqlens = {0, 392},
                                                      .exchange = four},
                                                     {.degree = 2,
                                                      .first_rank = 4,
                                                      .sequences = {1},
                                                      .tokens = 200,
                                                      .time_ms = 10 + 100,
                                                      .cu_seqlens = {0, 200},
                                                      .exchange = two}}}}};
  };
  const auto rules = [&](const ScatterPlan& plan) { return broken_rules(verify(instance, plan)); };
  // 98 tokens a rank, of which 3/4 go to other ranks at 2 MiB per ms.
  EXPECT_THAT(rules(plan_with(all_to_all, ring, 10 + 98 + 36.75)), IsEmpty());
  EXPECT_THAT(rules(plan_with(ring, ring, 10 + 98)), testing::ElementsAre("makespan", "objective"))
      << "the ring of two is slower";
  EXPECT_THAT(rules(plan_with(ring, ring, 10 + 98 + 36.75)), Contains("time"));
  EXPECT_THAT(rules(plan_with(all_gather, ring, 200)), testing::ElementsAre("exchange"));
  EXPECT_THAT(rules(plan_with(none, ring, 200)), testing::ElementsAre("exchange"));
  EXPECT_THAT(rules(plan_with(all_to_all, all_to_all, 10 + 98 + 36.75)),
              testing::ElementsAre("exchange"));
}

TEST(Verify, EveryRuleHasACaseThatBreaksIt) {
  std::set<std::string> broken = {"instance_hash"};  // VerifyInstanceHash below
  for (const Case& c : all_changes()) broken.insert(c.rules.begin(), c.rules.end());
  for (const std::string_view rule : scatter_verify_rules()) {
    EXPECT_THAT(broken, Contains(std::string(rule)));
  }
}

TEST(Verify, InstanceHash) {
  EXPECT_THAT(verify_instance_hash(good_plan(), "abc"), IsEmpty());
  EXPECT_EQ(all_of(verify_instance_hash(good_plan(), "def")),
            "instance_hash at /instance_hash: has abc, needs def\n");
  EXPECT_EQ(all_of(verify_instance_hash(ScatterPlan{}, "def")),
            "instance_hash at /instance_hash: has no hash, needs def\n");
}

TEST(Verify, SaysWhatStandsThereAndWhatIsNeeded) {
  ScatterInstance instance = eight_devices();
  instance.model.states_mib = 22;
  instance.lengths.push_back(8);
  EXPECT_EQ(all_of(verify(instance, good_plan())),
            "coverage at /micro_batches: has sequence 6 nowhere, needs each sequence exactly once\n"
            "capacity at /micro_batches/0/groups/1: has 200 tokens, needs at most 196 tokens\n");

  ScatterPlan plan = good_plan();
  group_of(plan, 1, 1).sequences.push_back(2);
  EXPECT_THAT(all_of(verify(eight_devices(), plan)),
              testing::HasSubstr("coverage at /micro_batches/1/groups/1/sequences/1: has sequence "
                                 "2, computed already in /micro_batches/0/groups/1, needs each "
                                 "sequence exactly once\n"));
}

TEST(Verify, SaysWhereSequencesBegin) {
  ScatterPlan plan = good_plan();
  group_of(plan, 1, 1).cu_seqlens[0] = 3;
  EXPECT_EQ(all_of(verify(eight_devices(), plan)),
            "cu_seqlens at /micro_batches/1/groups/1/cu_seqlens/0: has 3, needs 0\n");
}

TEST(Verify, GroupsOfUnknownSequencesMayTakeNoTimeAtAll) {
  ScatterPlan plan = good_plan();
  group_of(plan, 1, 1).sequences = {99};
  group_of(plan, 1, 1).time_ms = std::numeric_limits<double>::quiet_NaN();
  const std::set<std::string> rules = broken_rules(verify(eight_devices(), plan));
  EXPECT_TRUE(rules.contains("unknown_sequence"));
  EXPECT_TRUE(rules.contains("number"));
}

TEST(Verify, AnEmptyStepHasAnEmptyPlan) {
  ScatterInstance instance = eight_devices();
  instance.lengths.clear();
  EXPECT_THAT(verify(instance, ScatterPlan{}), IsEmpty());
  EXPECT_EQ(broken_rules(verify(eight_devices(), ScatterPlan{})),
            (std::set<std::string>{"coverage"}));
}

TEST(Verify, CountsWhatItDoesNotSpellOut) {
  ScatterInstance instance = eight_devices();
  instance.lengths.assign(1'000'000, 8);
  const auto violations = verify(instance, ScatterPlan{});
  ASSERT_EQ(violations.size(), kMaxViolationsPerRule + 1);
  EXPECT_EQ(to_string(violations.back()), "coverage: and 999980 more");
  EXPECT_EQ(violations.back().count, 999980);
}

TEST(Verify, SumsBeyondTheIntegerRangeFitNowhere) {
  ScatterInstance instance = eight_devices();
  instance.model.activation_mib_per_token = 1e-300;
  instance.lengths.assign(3, std::numeric_limits<Tokens>::max() - 7);
  ScatterPlan plan;
  plan.micro_batches = {{.groups = {{.degree = 8, .sequences = {0, 1, 2}}}}};
  EXPECT_THAT(broken_rules(verify(instance, plan)), testing::IsSupersetOf({"tokens", "capacity"}));
}

// The plans below are so large that a quadratic algorithm would not end.
TEST(Verify, AMillionEmptyGroupsOnOneRank) {
  ScatterPlan plan;
  plan.micro_batches.resize(1);
  plan.micro_batches[0].groups.resize(1'000'000, {.degree = std::numeric_limits<int>::max(),
                                                  .first_rank = std::numeric_limits<int>::max()});
  EXPECT_THAT(broken_rules(verify(eight_devices(), plan)),
              testing::IsSupersetOf({"empty_group", "degree", "rank_range", "rank_overlap",
                                     "devices", "cu_seqlens", "coverage"}));
}

TEST(Verify, TheSameSequenceAMillionTimes) {
  ScatterPlan plan = good_plan();
  group_of(plan, 0, 0).sequences.assign(1'000'000, 3);
  for (int i = 0; i < 100'000; ++i) plan.micro_batches.push_back(plan.micro_batches[1]);
  EXPECT_THAT(broken_rules(verify(eight_devices(), plan)),
              testing::IsSupersetOf({"coverage", "tokens", "capacity", "cu_seqlens"}));
}

// A verifier that used the planner's arithmetic would share its errors.
TEST(Verify, SharesNoCodeWithTheCostModel) {
  for (const std::string file :
       {"violation.h", "violation.cc", "proof/violation_list.h", "scatter/verify/reference_model.h",
        "scatter/verify/padding_reference.h", "scatter/verify/form_reference.h",
        "scatter/verify/memory_reference.h", "scatter/verify/work_reference.h",
        "scatter/verify/verify.h", "scatter/verify/rules/plan_checker.h",
        "scatter/verify/rules/group_rules.cc", "scatter/verify/rules/micro_batch_rules.cc",
        "scatter/verify/verify.cc"}) {
    std::ifstream in(STOWAGE_SOURCE_DIR "/instances/" + file);
    ASSERT_TRUE(in) << file;
    std::stringstream text;
    text << in.rdbuf();
    for (const std::string word : {"cost_model", "padded_length", "tokens_per_device",
                                   "sequence_ms", "group_overhead_ms", "group_capacity"}) {
      EXPECT_EQ(text.str().find(word), std::string::npos) << file << " mentions " << word;
    }
  }
}

}  // namespace
}  // namespace stowage::scatter_verify_test
