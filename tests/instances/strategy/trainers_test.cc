// Configurations that trainers refuse are not proposed.
#include "instances/strategy/trainers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "instances/strategy/configuration.h"
#include "instances/strategy/generate/generate.h"
#include "instances/strategy/json/json.h"
#include "instances/strategy/planning_table.h"
#include "instances/strategy/verify/verify.h"

namespace stowage::strategy_trainers_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

StrategyInstance instance_of(const std::string& model, const std::string& trainer = "") {
  return *generate_strategy({.model = model, .nodes = 2, .machine = "h100", .trainer = trainer},
                            std::vector<Tokens>(32, 4096));
}

std::int64_t most_zero(const StrategyInstance& instance, std::int64_t pp) {
  const StrategyTable table(instance);
  std::int64_t most = -1;
  for (const StrategyClass& its : table.classes()) {
    if (its.pp != pp) continue;
    for (const StageChoice& choice : table.choices(its)) most = std::max(most, choice.zero);
  }
  return most;
}

TEST(Trainers, TakeNoMoreThanTheirLevelWithPipelines) {
  for (const auto& [trainer, level] : {std::pair<std::string, std::int64_t>{"", 1},
                                       {"megatron", 1},
                                       {"torchtitan", 2},
                                       {"deepspeed", 1}}) {
    const StrategyInstance instance = instance_of("llama-7b", trainer);
    EXPECT_EQ(most_zero(instance, 1), 3) << trainer;
    EXPECT_EQ(most_zero(instance, 4), level) << trainer;
  }
}

TEST(Trainers, WithoutALevelForPipelinesHaveNone) {
  StrategyInstance instance = instance_of("llama-7b");
  instance.options.zero = {3};
  const StrategyTable table(instance);
  for (const StrategyClass& its : table.classes()) EXPECT_EQ(its.pp, 1);
  EXPECT_FALSE(table.classes().empty());
}

TEST(Trainers, SplitWholeHeadsOfKeysAndValues) {
  EXPECT_THAT(instance_of("qwen3-30b-a3b").options.tp, ElementsAre(1, 2, 4, 8));
  EXPECT_THAT(instance_of("qwen3-30b-a3b", "megatron").options.tp, ElementsAre(1, 2, 4));
  EXPECT_THAT(instance_of("qwen3-30b-a3b", "torchtitan").options.tp, ElementsAre(1, 2, 4));
  EXPECT_THAT(instance_of("qwen3-30b-a3b", "deepspeed").options.zero, ElementsAre(1));
}

TEST(Trainers, SayTheRuleThatLeavesNothing) {
  StrategyInstance instance = instance_of("llama3-8b");
  instance.options.tp = {16};
  instance.options.zero = {0, 1};
  const Result<TrainerOptions> refused = options_for(instance, "torchtitan");
  ASSERT_FALSE(refused);
  ASSERT_EQ(refused.errors().size(), 2U);
  EXPECT_EQ(refused.errors()[0].code, "E388");
  EXPECT_EQ(refused.errors()[0].pointer, "/options/tp");
  EXPECT_THAT(refused.errors()[1].message, HasSubstr("has 0, 1: torchtitan shards gradients"));
}

TEST(Trainers, NameTheRulesThatTheyApplied) {
  StrategyInstance instance = instance_of("llama3-8b");
  instance.options.pipeline_zero = 3;
  const Result<TrainerOptions> deepspeed = options_for(instance, "deepspeed");
  ASSERT_TRUE(deepspeed);
  EXPECT_THAT(deepspeed->rules, ElementsAre(HasSubstr("not interleaved"),
                                            HasSubstr("refuses ZeRO 2 and 3 with pipelines")));
  EXPECT_THAT(deepspeed->options.v, ElementsAre(1));
}

// The rule is in the document, in the hash if it is not the default, and in the verifier.
TEST(PipelineZero, IsReadHashedAndVerified) {
  StrategyInstance instance = instance_of("llama-7b");
  EXPECT_EQ(instance.options.pipeline_zero, 1);
  const auto read = read_strategy_instance(write_strategy_instance(instance));
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, instance);
  StrategyInstance free = instance;
  free.options.pipeline_zero = 3;
  EXPECT_NE(instance_hash(free), instance_hash(instance));
  EXPECT_THAT(write_strategy_instance(free), ::testing::Not(HasSubstr("pipeline_zero")));
  StrategyPlan plan = *read_configuration("pp=2,zero=3,micro_batch_size=1", free);
  EXPECT_TRUE(verify(free, plan).empty());
  plan.instance_hash = instance_hash(instance);
  const std::vector<Violation> violations = verify(instance, plan);
  ASSERT_FALSE(violations.empty());
  EXPECT_EQ(violations.front().rule, "options");
  EXPECT_THAT(violations.front().need, HasSubstr("at most 1"));
}

}  // namespace
}  // namespace stowage::strategy_trainers_test
