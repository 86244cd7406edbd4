// Configurations without derived values: partial plans and their short form.
#include "instances/strategy/configuration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "instances/documents.h"
#include "instances/strategy/cost/price.h"
#include "instances/strategy/generate/generate.h"
#include "instances/strategy/json/json.h"
#include "instances/strategy/verify/verify.h"

namespace stowage::strategy_configuration_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

StrategyInstance instance_of(std::int64_t sequences = 32) {
  return *generate_strategy({.model = "llama-7b", .nodes = 2},
                            std::vector<Tokens>(static_cast<std::size_t>(sequences), 4096));
}

std::vector<std::string> errors_of(std::string_view text) {
  const Result<StrategyPlan> plan = read_configuration(text, instance_of());
  std::vector<std::string> found;
  if (plan) return found;
  for (const InputError& error : plan.errors()) {
    EXPECT_EQ(error.code, "E387");
    found.push_back(error.pointer + ": " + error.message);
  }
  return found;
}

TEST(StatedConfiguration, HasThePriceOfTheConfigurationAndVerifies) {
  const StrategyInstance instance = instance_of();
  const Result<StrategyPlan> plan =
      read_configuration("pp=2,tp=4,zero=1,recompute=full,micro_batch_size=2", instance);
  ASSERT_TRUE(plan);
  const StrategyPlan priced =
      price_configuration(instance, {.its = {.pp = 2, .micro_batches = 8},
                                     .layout = {.tp = 4, .dp = 2},
                                     .choice = {.zero = 1, .recompute = StrategyRecompute::full}});
  EXPECT_EQ(plan->step_ms, priced.step_ms);
  EXPECT_EQ(plan->stages, priced.stages);
  EXPECT_TRUE(verify(instance, *plan).empty());
}

TEST(StatedConfiguration, HasTheRanksThatShareStates) {
  const std::string_view words = "zero=1,micro_batch_size=1,recompute=full,shard=";
  StrategyInstance instance = instance_of();
  const auto plan = read_configuration(std::string(words) + '8', instance);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->shard, 8);
  EXPECT_TRUE(verify(with_options_of(instance, *plan), *plan).empty());
  EXPECT_EQ(read_configuration(std::string(words) + "16", instance)->shard, 0);  // all ranks
  EXPECT_THAT(errors_of(std::string(words) + '3'),
              ElementsAre("shard: must divide the 16 ranks of dp and cp and be a multiple of ep 1, "
                          "is 3"));
}

TEST(StatedConfiguration, MayHaveARingThatHeadsDoNotDivide) {
  StrategyInstance instance = instance_of();  // 32 heads
  instance.cluster = {.nodes = 6, .devices_per_node = 8, .memory_mib = 1e6};
  instance.lengths.assign(6, 48 * 1024);
  const auto plan = read_configuration(
      "tp=8,cp=6,cp_exchange=ring,zero=1,micro_batch_size=1,recompute=full", instance);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->cp_exchange, StrategyExchange::ring);
  EXPECT_TRUE(verify(with_options_of(instance, *plan), *plan).empty());
  EXPECT_THAT(errors_of("micro_batch_size=1,cp_exchange=p2p"),
              ElementsAre("cp_exchange: must be all_to_all or ring, is \"p2p\""));
}

TEST(StatedConfiguration, OfABarePlanIsTheSame) {
  const StrategyInstance instance = instance_of();
  const Result<Plan> bare = read_plan(
      R"({"format": "stowage/plan", "version": 1, "problem": "strategy", "pp": 2, "tp": 4,
          "dp": 2, "zero": 1, "recompute": "full", "micro_batches": 8, "layers": [15, 17]})",
      instance);
  ASSERT_TRUE(bare) << bare.errors().front().message;
  const auto& plan = std::get<StrategyPlan>(*bare);
  EXPECT_EQ(plan.stages[0].layers, 15);
  EXPECT_EQ(plan, *read_configuration(
                      "pp=2,tp=4,zero=1,recompute=full,micro_batches=8,layers=15:17", instance));
  // A complete plan is read as before.
  const Result<Plan> whole = read_plan(write_strategy_plan(plan), instance);
  ASSERT_TRUE(whole);
  EXPECT_EQ(std::get<StrategyPlan>(*whole), plan);
}

TEST(StatedConfiguration, AllErrorsOfAPassAreListed) {
  EXPECT_THAT(errors_of("pp=2,tq=4,recompute=half,zero=4,layers=1:x,micro_batches"),
              ElementsAre(HasSubstr("did you mean \"tp\""), HasSubstr("none, selective or full"),
                          HasSubstr("zero: must be an integer from 0 to 3, is \"4\""),
                          HasSubstr("has \"x\""), HasSubstr("must be followed by =")));
  EXPECT_THAT(
      errors_of("pp=3,tp=4"),
      ElementsAre(
          HasSubstr("must divide the 16 devices together with tp and cp, is pp 3, tp 4 and cp 1"),
          HasSubstr("must be given, or micro_batch_size")));
  EXPECT_THAT(errors_of("pp=2,tp=4,dp=4,micro_batches=5,layers=16:15"),
              ElementsAre(HasSubstr("must be 2, which the 16 devices leave"),
                          HasSubstr("must divide the 16 sequences"),
                          HasSubstr("must add up to the 32 layers of the model, is 31")));
  EXPECT_THAT(errors_of("tp=1,tp=2,micro_batch_size=1"), ElementsAre(HasSubstr("given once")));
  EXPECT_THAT(errors_of("micro_batch_size=1,micro_batches=1"),
              ElementsAre(HasSubstr("must be 2 beside 1 micro-batches, is 1")));
  EXPECT_THAT(errors_of(""), ElementsAre(HasSubstr("must be one of pp, v, tp")));
}

TEST(StatedConfiguration, SequencesThatDpDoesNotDivideAreNamed) {
  const Result<StrategyPlan> plan = read_configuration("micro_batch_size=1", instance_of(20));
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.errors().front().pointer, "dp");
}

TEST(StatedConfiguration, ItsValuesCanBeAddedToTheOptions) {
  StrategyInstance instance = instance_of();
  instance.options.tp = {1};
  instance.options.micro_batches = {4};
  const StrategyPlan plan =
      *read_configuration("tp=4,zero=2,recompute=selective,micro_batches=8", instance);
  EXPECT_FALSE(verify(instance, plan).empty());
  const StrategyInstance allowing = with_options_of(instance, plan);
  EXPECT_EQ(allowing.options.tp, (std::vector<std::int64_t>{1, 4}));
  EXPECT_EQ(allowing.options.zero, (std::vector<std::int64_t>{1, 3, 2}));
  StrategyPlan of_it = plan;
  of_it.instance_hash = instance_hash(allowing);
  EXPECT_TRUE(verify(allowing, of_it).empty());
  EXPECT_EQ(with_options_of(allowing, plan), allowing);
}

}  // namespace
}  // namespace stowage::strategy_configuration_test
