// Sources of rates: named stacks, their label in documents, and the error beside it.
#include "instances/strategy/fit/stacks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "instances/model/machine.h"
#include "instances/strategy/generate/generate.h"
#include "instances/strategy/json/json.h"

namespace stowage::strategy_stacks_test {
namespace {

using ::testing::HasSubstr;

StrategyInstance made(const std::string& machine, const std::string& stack) {
  Result<StrategyInstance> instance = generate_strategy(
      {.model = "llama3-8b", .nodes = 1, .machine = machine, .stack = stack}, {8192, 8192});
  EXPECT_TRUE(instance) << (instance ? "" : instance.errors().front().message);
  return instance ? *std::move(instance) : StrategyInstance{};
}

TEST(RateStacks, AreThoseOfKnownMachinesWithErrors) {
  std::set<std::string> names;
  for (const RateStack& stack : rate_stacks()) {
    names.insert(stack.name);
    EXPECT_NE(machine_named(stack.machine), nullptr) << stack.machine;
    EXPECT_EQ(stack.rates.size(), rate_names().size());
    EXPECT_GT(stack.steps, 0);
    if (!stack.error) continue;
    EXPECT_LE(stack.error->median, stack.error->p90);
    EXPECT_LE(stack.error->p90, stack.error->worst);
    EXPECT_GT(stack.error->steps, 3);
  }
  for (const char* name : {"megatron-2025", "fsdp-2023", "torchtitan-2024", "maxtext-2025"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
}

TEST(RateStacks, ChangeTheDeterminedRatesAlone) {
  const StrategyInstance plain = made("h100", "");
  const StrategyInstance of_stack = made("h100", "megatron-2025");
  const RateStack& stack = *rate_stack("megatron-2025", "h100");
  StrategyInstance expected = plain;
  for (const FittedRate& rate : stack.rates) {
    *rate_named(expected, rate.name) *= rate.determined ? rate.factor : 1;
  }
  EXPECT_NE(expected.cost.linear_tflops, plain.cost.linear_tflops);
  EXPECT_EQ(of_stack.cost.linear_tflops, expected.cost.linear_tflops);
  EXPECT_EQ(of_stack.cost.detail, expected.cost.detail);
  EXPECT_EQ(of_stack.cluster, expected.cluster);
  ASSERT_TRUE(of_stack.cost.rates);
  EXPECT_EQ(of_stack.cost.rates->source, StrategyRateSource::stack);
  for (const FittedRate& rate : stack.rates) {
    EXPECT_EQ(std::ranges::count(of_stack.cost.rates->kept, rate.name), rate.determined ? 0 : 1);
  }
}

TEST(RateStacks, UnknownOnesAreRefusedWithWhatThereIs) {
  const Result<StrategyInstance> misspelt =
      generate_strategy({.machine = "h100", .stack = "megatron-2052"}, {8192});
  ASSERT_FALSE(misspelt);
  EXPECT_EQ(misspelt.errors().front().code, "E501");
  EXPECT_THAT(misspelt.errors().front().message, HasSubstr("did you mean \"megatron-2025\""));
  const Result<StrategyInstance> elsewhere =
      generate_strategy({.machine = "b200", .stack = "fsdp-2023"}, {8192});
  ASSERT_FALSE(elsewhere);
  EXPECT_THAT(elsewhere.errors().front().message, HasSubstr("a100-40, a100-80, h100"));
  const Result<StrategyInstance> first =
      generate_strategy({.machine = "h100", .stack = "fsdp-2023", .formulas = 1}, {8192});
  ASSERT_FALSE(first);
  EXPECT_EQ(first.errors().front().code, "E504");
}

TEST(RateReport, OfAssumedRatesIsThatOfTheClass) {
  StrategyInstance instance = made("h100", "");
  const RateReport second = rate_report(instance);
  EXPECT_EQ(second.rates.source, StrategyRateSource::assumed);
  ASSERT_TRUE(second.error);
  EXPECT_THAT(second.steps_of, HasSubstr("8192 to 32767 tokens"));
  EXPECT_THAT(rate_text(second), HasSubstr("assumed; published steps of 8192 to 32767 tokens"));
  instance.lengths = {2048, 4096};
  EXPECT_THAT(rate_report(instance).steps_of, HasSubstr("2048 to 8191 tokens"));
  instance.cost.detail.reset();
  const RateReport first = rate_report(instance);
  ASSERT_TRUE(first.error);
  EXPECT_NE(*first.error, *second.error);
  // no published step is as long, so the errors are those of all lengths
  instance.lengths = {1'000'000};
  EXPECT_EQ(rate_report(instance).steps_of, "published steps");
}

TEST(RateReport, OfAStackIsItsOwn) {
  const RateReport report = rate_report(made("h100", "megatron-2025"));
  EXPECT_EQ(report.error, rate_stack("megatron-2025", "h100")->error);
  EXPECT_THAT(rate_text(report), HasSubstr("of the stack megatron-2025; published steps of"));
}

TEST(RateLabel, IsReadAsItIsWrittenAndChangesNoHash) {
  StrategyInstance instance = made("h100", "fsdp-2023");
  const Result<StrategyInstance> read = read_strategy_instance(write_strategy_instance(instance));
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, instance);
  const std::string hash = instance_hash(instance);
  instance.cost.rates.reset();
  EXPECT_EQ(instance_hash(instance), hash);
  EXPECT_THAT(write_strategy_instance(instance), ::testing::Not(HasSubstr("\"rates\"")));
}

TEST(RateLabel, OfAStackOrRateThatThereIsNotIsRefused) {
  StrategyInstance instance = made("h100", "");
  const auto first_error = [&](const StrategyRates& rates) {
    instance.cost.rates = rates;
    const auto read = read_strategy_instance(write_strategy_instance(instance));
    return read ? "" : read.errors().front().code + ' ' + read.errors().front().pointer;
  };
  EXPECT_EQ(first_error({.source = StrategyRateSource::stack}), "E386 /cost/rates/stack");
  EXPECT_EQ(first_error({.source = StrategyRateSource::fitted, .stack = "fsdp-2032"}),
            "E386 /cost/rates/stack");
  EXPECT_EQ(first_error({.kept = {"across", "acros"}}), "E386 /cost/rates/kept/1");
  EXPECT_EQ(first_error({.source = StrategyRateSource::measured, .kept = {"across"}}), "");
}

}  // namespace
}  // namespace stowage::strategy_stacks_test
