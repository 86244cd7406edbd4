// What the verifier says of assign plans, and that it shares no code with the planners.
#include "instances/assign/verify/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "tests/instances/assign/good_plan.h"
#include "tests/instances/random_assign.h"

namespace stowage::assign_verify_test {
namespace {

TEST(AssignVerify, SaysWhatIsWhere) {
  AssignPlan plan = good_plan();
  plan.strategy = "small";
  plan.replicas[1].rows[0].sequences = {3, 1};
  EXPECT_EQ(all_of(verify(three_replicas(), plan)),
            "replicas at /replicas: has 1 of scheme \"two\", needs 0, as strategy \"small\" has\n"
            "replicas at /replicas: has 2 of scheme \"one\", needs 6, as strategy \"small\" has\n"
            "coverage at /replicas/1/rows/0/sequences/1: has sequence 1, computed already in "
            "/replicas/0/rows/1, needs each sequence exactly once\n"
            "coverage at /replicas: has sequence 2 nowhere, needs each sequence exactly once\n"
            "tokens at /replicas/1/rows/0/tokens: has 60 tokens, needs 90 tokens\n"
            "loss_tokens at /replicas/1/rows/0/loss_tokens: has 60 tokens, needs 90 tokens\n"
            "cu_seqlens at /replicas/1/rows/0/cu_seqlens/2: has 60, needs 90\n"
            "capacity at /replicas/1/rows/0: has 90 tokens, needs at most 60 tokens on \"one\"\n"
            "row_time at /replicas/1/rows/0/time_ms: has 29 ms, needs 59 ms\n"
            "replica_time at /replicas/1/time_ms: has 30 ms, needs 66 ms\n"
            "objective at /objective_ms: has 56 ms, needs 66 ms\n"
            "simulated at /simulated_1f1b_ms: has 53.333333333333336 ms, needs 66 ms\n");
}

TEST(AssignVerify, SaysWhereSequencesBegin) {
  AssignPlan plan = good_plan();
  plan.replicas[1].rows[0].cu_seqlens[0] = 3;
  EXPECT_THAT(
      all_of(verify(three_replicas(), plan)),
      testing::HasSubstr("cu_seqlens at /replicas/1/rows/0/cu_seqlens/0: has 3, needs 0\n"));
}

TEST(AssignVerify, AStepWithoutSequencesTakesNoTime) {
  AssignInstance instance = three_replicas();
  instance.lengths.clear();
  const AssignPlan plan{.strategy = "mix",
                        .replicas = {{.scheme = "two"}, {.scheme = "one"}, {.scheme = "one"}}};
  EXPECT_EQ(all_of(verify(instance, plan)), "");
  instance.constraints.allow_empty = false;
  EXPECT_EQ(broken_rules(verify(instance, plan)), std::set<std::string>{"allow_empty"});
}

TEST(AssignVerify, ThePlanIsMadeForThisVeryInstance) {
  EXPECT_EQ(all_of(verify_instance_hash(good_plan(), "abc")), "");
  EXPECT_EQ(all_of(verify_instance_hash(good_plan(), "abd")),
            "instance_hash at /instance_hash: has abc, needs abd\n");
  EXPECT_EQ(all_of(verify_instance_hash(AssignPlan{}, "abd")),
            "instance_hash at /instance_hash: has no hash, needs abd\n");
}

// A quadratic algorithm would not end.
TEST(AssignVerify, AMillionRowsOfOneSequence) {
  const AssignInstance instance = three_replicas();
  AssignPlan plan = good_plan();
  plan.replicas[1].rows.assign(1'000'000, plan.replicas[1].rows[1]);
  const auto violations = verify(instance, plan);
  EXPECT_THAT(broken_rules(violations), testing::Contains("coverage"));
  EXPECT_LE(violations.size(), 100U);
}

// A verifier that used the planner's arithmetic would share its errors.
TEST(AssignVerify, SharesNoCodeWithThePlanners) {
  for (const std::string file :
       {"instances/assign/verify/verify.cc", "instances/assign/verify/verify.h",
        "instances/assign/verify/rules/plan_checker.h",
        "instances/assign/verify/rules/row_rules.cc", "instances/assign/verify/reference_model.h",
        "instances/assign/verify/chunk_reference.h"}) {
    std::ifstream in(STOWAGE_SOURCE_DIR "/" + file);
    ASSERT_TRUE(in);
    std::stringstream text;
    text << in.rdbuf();
    for (const std::string word :
         {"padded_length", "round_up", "simulate_1f1b", "instances/pipeline/schedule.h",
          "instances/assign/planning_table.h", "instances/assign/chunks/chunk_flow.h",
          "longest_sequence"}) {
      EXPECT_EQ(text.str().find(word), std::string::npos) << word;
    }
  }
}

}  // namespace
}  // namespace stowage::assign_verify_test
