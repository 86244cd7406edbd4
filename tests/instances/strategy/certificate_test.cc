// Certificates of strategies: the checker confirms those of planners, and no certificate proves
// more than is true.
#include "instances/strategy/certificate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <utility>

#include "instances/strategy/json/json.h"
#include "instances/strategy/planning_table.h"
#include "instances/strategy/verify/exhaustive_check.h"
#include "tests/instances/draw.h"
#include "tests/oracles/strategy/brute_force.h"
#include "tests/tiny_strategy.h"

namespace stowage::strategy_certificate_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Returns equal prices for every class, and a bound that is certainly true.
StrategyCertificate of_nothing(const StrategyInstance& instance) {
  const StrategyTable table(instance);
  StrategyCertificate certificate;
  for (const StrategyClass& its : table.classes()) {
    certificate.classes.push_back({its.pp, its.v, its.micro_batches,
                                   std::vector<double>(static_cast<std::size_t>(its.pp), 1)});
  }
  return certificate;
}

// Two stages and one, so that classes differ.
StrategyInstance pipeline() {
  return {.model = {.hidden = 256,
                    .heads = 4,
                    .vocabulary = 500,
                    .blocks = {{.count = 4, .ffn = 1024}}},
          .cluster = {.nodes = 1, .devices_per_node = 4, .memory_mib = 500},
          .options = {.pp = {1, 2}, .tp = {1, 2}},
          .lengths = {100, 100, 100, 100}};
}

std::vector<std::string> rules_of(const StrategyInstance& instance,
                                  const StrategyCertificate& certificate) {
  std::vector<std::string> rules;
  for (const Violation& v : check_certificate(instance, certificate).violations) {
    if (rules.empty() || rules.back() != v.rule) rules.push_back(v.rule);
  }
  return rules;
}

TEST(StrategyCertificate, EveryRuleIsKeptAndBroken) {
  const StrategyInstance instance = pipeline();
  const StrategyCertificate sound = of_nothing(instance);
  EXPECT_THAT(rules_of(instance, sound), IsEmpty());
  ASSERT_EQ(sound.classes.back().pp, 2);
  StrategyCertificate broken = sound;
  broken.classes.pop_back();
  EXPECT_THAT(rules_of(instance, broken), ElementsAre("certificate_class"));
  broken = sound;
  broken.classes.push_back(broken.classes.front());
  EXPECT_THAT(rules_of(instance, broken), ElementsAre("certificate_class"));
  broken = sound;
  broken.classes.push_back({4, 1, 1, {1, 1, 1, 1}});
  EXPECT_THAT(rules_of(instance, broken), ElementsAre("certificate_class"));
  broken = sound;
  broken.classes.back().prices = {1};
  EXPECT_THAT(rules_of(instance, broken), ElementsAre("certificate_price"));
  broken.classes.back().prices = {-1, 2};
  EXPECT_THAT(rules_of(instance, broken), ElementsAre("certificate_price"));
  broken.classes.back().prices = {0, 0};
  EXPECT_THAT(rules_of(instance, broken), ElementsAre("certificate_price"));
  broken = sound;
  broken.bound_ms = brute_force(instance)->step_ms * 1.001;
  EXPECT_THAT(rules_of(instance, broken), ElementsAre("certificate_bound"));
  EXPECT_EQ(check_certificate(instance, broken).bound_ms, 0);
  for (const double bad : {-1.0, std::numeric_limits<double>::quiet_NaN()}) {
    broken.bound_ms = bad;
    EXPECT_THAT(rules_of(instance, broken), ElementsAre("certificate_bound")) << bad;
  }
  // Without any configuration there is nothing to bound.
  StrategyInstance none = instance;
  none.options.tp = {8};
  EXPECT_THAT(rules_of(none, {}), ElementsAre("certificate_bound"));
}

// Two chunks a stage and no embedding: 6 layers are dealt as 2 and 4, not as 3 and 3.
TEST(StrategyCertificate, StagesThatAreTriedHaveWholeChunks) {
  StrategyInstance instance = pipeline();
  instance.model.vocabulary = 0;
  instance.model.blocks[0].count = 6;
  instance.options.pp = {2};
  instance.options.tp = {1};
  instance.options.v = {2};
  instance.options.micro_batches = {2};
  const auto best = brute_force(instance);
  ASSERT_TRUE(best);
  EXPECT_NE(best->stages[0].layers, 3);
  EXPECT_NEAR(*least_step(instance), best->step_ms, 1e-9 * best->step_ms);
}

// For all prices a bound above the optimum is refused; both brute forces agree.
TEST(StrategyCertificate, NoPricesProveMoreThanIsTrue) {
  Draw draw(11);
  int refused = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    StrategyInstance instance =
        with_partial_sharing(seed % 2 == 0 ? tiny_strategy(seed, 6) : tiny_experts(seed, 6), seed);
    if (seed % 3 == 0) instance = with_offload(std::move(instance), seed);
    const std::optional<Ms> least = least_step(instance);
    if (!least) continue;
    const auto best = brute_force(instance);
    ASSERT_EQ(best.has_value(), *least < std::numeric_limits<double>::infinity()) << seed;
    if (!best) continue;
    EXPECT_NEAR(best->step_ms, *least, 1e-9 * *least) << seed;
    StrategyCertificate certificate = of_nothing(instance);
    for (auto& its : certificate.classes) {
      for (double& price : its.prices) price = draw.real(0, 1);
      its.thresholds = draw.coin();
    }
    certificate.bound_ms = *least * 1.0001;
    EXPECT_THAT(rules_of(instance, certificate), ElementsAre("certificate_bound")) << seed;
    ++refused;
  }
  EXPECT_GT(refused, 50);
}

// If layers cannot be divided evenly, no prices reach the optimum, but cases do. The infeasibility
// of an instance is proven in the same way. The least step that cases find is that of brute force.
TEST(StrategyCertificate, CasesProveWhatPricesDoNot) {
  int only_by_cases = 0;
  for (std::uint64_t seed = 0; seed < 270; ++seed) {
    StrategyInstance instance =
        with_partial_sharing(seed % 2 == 0 ? tiny_strategy(seed, 6) : tiny_experts(seed, 6), seed);
    if (seed % 3 == 0) instance = with_offload(std::move(instance), seed);
    for (Tokens& length : instance.lengths) length = instance.lengths.front();
    const auto best = brute_force(instance);
    if (!best) continue;
    StrategyCertificate certificate = of_nothing(instance);
    certificate.bound_ms = best->step_ms;
    const bool by_prices = rules_of(instance, certificate).empty();
    for (auto& its : certificate.classes) its.thresholds = true;
    EXPECT_THAT(rules_of(instance, certificate), IsEmpty()) << seed;
    only_by_cases += by_prices ? 0 : 1;
    certificate.bound_ms *= 1 + 1e-6;
    EXPECT_THAT(rules_of(instance, certificate), ElementsAre("certificate_bound")) << seed;
  }
  EXPECT_GT(only_by_cases, 10);
}

TEST(StrategyCertificate, IsReadBack) {
  const auto none = read_strategy_certificate("{\"certificate\": null}");
  ASSERT_TRUE(none);
  EXPECT_FALSE(none->has_value());
  const auto some = read_strategy_certificate(
      R"({"certificate": {"bound_ms": 2.5, "classes": [
          {"pp": 2, "v": 1, "micro_batches": 4, "prices": [0.25, 0.75]},
          {"pp": 2, "v": 1, "micro_batches": 8, "prices": [1, 1], "thresholds": true}]}})");
  ASSERT_TRUE(some);
  const StrategyCertificate expected{.bound_ms = 2.5,
                                     .classes = {{2, 1, 4, {0.25, 0.75}}, {2, 1, 8, {1, 1}, true}}};
  EXPECT_EQ(**some, expected);
  EXPECT_FALSE(read_strategy_certificate(R"({"certificate": {"bound_ms": -1, "classes": []}})"));
}

}  // namespace
}  // namespace stowage::strategy_certificate_test
