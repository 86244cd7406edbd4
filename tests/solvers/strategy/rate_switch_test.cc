// The rate at which another configuration becomes faster, against pricing every configuration
// again.
#include "solvers/strategy/explain/rate_switch.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heuristics/strategy/configurations.h"
#include "instances/strategy/fit/fit_rates.h"
#include "instances/strategy/generate/generate.h"

namespace stowage::strategy_rate_switch_test {
namespace {

StrategyInstance instance_of() {
  StrategyInstance instance =
      *generate_strategy({.model = "llama3-8b", .nodes = 2, .machine = "h100", .formulas = 2},
                         std::vector<Tokens>(32, 8192));
  instance.options.v = {1};
  instance.options.zero = {1};
  return instance;
}

Ms best_of(const StrategyInstance& instance) {
  const Budget budget;
  return best_homogeneous(StrategyTable(instance), budget)->step_ms;
}

TEST(RateSwitches, AreTheLeastChangesWithWhichAnotherIsFaster) {
  const StrategyInstance instance = instance_of();
  const Budget budget;
  const StrategyPlan best = *best_homogeneous(StrategyTable(instance), budget);
  const RateSwitches found = rate_switches(instance, best);
  EXPECT_FALSE(found.faster);
  ASSERT_FALSE(found.changes.empty());
  double before = 0;
  for (const RateSwitch& each : found.changes) {
    const double size = std::abs(std::log(each.factor()));
    EXPECT_GE(size, before) << each.rate;
    EXPECT_LE(size, std::log(kMaxRateFactor) * 1.001) << each.rate;
    before = size;
    StrategyInstance changed = instance;
    double& rate = *rate_named(changed, each.rate);
    EXPECT_EQ(rate, each.from);
    rate = each.to;
    // The other configuration is the fastest with the changed rate ...
    EXPECT_LT(each.other.step_ms, each.plan_ms);
    EXPECT_NEAR(best_of(changed), each.other.step_ms, 1e-6 * each.other.step_ms) << each.rate;
    // ... and with a slightly smaller change the plan is.
    rate = each.from * std::pow(each.factor(), 0.97);
    StrategyPlan again = best;
    const Ms kept = best_of(changed);
    const RateSwitches there = rate_switches(changed, again);
    EXPECT_FALSE(there.faster) << each.rate << ' ' << kept;
  }
}

TEST(RateSwitches, OfASlowPlanNameTheFasterOne) {
  const StrategyInstance instance = instance_of();
  const Budget budget;
  const std::vector<StrategyPlan> ranked = fastest_homogeneous(StrategyTable(instance), 20, budget);
  const RateSwitches found = rate_switches(instance, ranked.back());
  ASSERT_TRUE(found.faster);
  EXPECT_TRUE(found.changes.empty());
  EXPECT_NEAR(found.faster->step_ms, ranked.front().step_ms, 1e-9 * ranked.front().step_ms);
}

}  // namespace
}  // namespace stowage::strategy_rate_switch_test
