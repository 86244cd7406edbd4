// A bound by a search has no certificate: the verifier solves small steps again.
#include <gtest/gtest.h>

#include "cli/families/outcome/check_outcome.h"
#include "instances/scatter/plan_builder.h"
#include "solvers/solve.h"
#include "tests/long_run.h"
#include "tests/tiny_scatter.h"

namespace stowage::families_tried_again_test {
namespace {

constexpr double kTolerance = 1e-9;

InstanceAndPlan solved(const ScatterInstance& instance) {
  Budget budget({.node_limit = 2000});
  Outcome outcome = solve(Instance(instance), {}, budget);
  return {.instance = instance, .plan = outcome.plan.value_or(ScatterPlan())};
}

TEST(TriedAgain, AnOptimumIsProvenAndMoreIsAClaim) {
  int by_subsets = 0;
  for (std::uint64_t seed = 0; seed < static_cast<std::uint64_t>(in_long_run(60, 1000)); ++seed) {
    SCOPED_TRACE(seed);
    InstanceAndPlan both = solved(tiny_scatter(seed + 80000, 8));
    auto& plan = std::get<ScatterPlan>(both.plan);
    if (plan.bound_by != "subsets") continue;
    ++by_subsets;
    const CheckedOutcome truth = judge(both);
    EXPECT_TRUE(truth.violations.empty());
    EXPECT_EQ(truth.proven->name, "subsets");
    EXPECT_NEAR(truth.proven->value, plan.objective_ms, kTolerance * plan.objective_ms);
    EXPECT_FALSE(truth.shown.claimed);
    // A worse plan that claims to be optimal: every group is in a micro-batch of its own.
    std::vector<MicroBatchChoice> alone;
    for (const ScatterMicroBatch& batch : plan.micro_batches) {
      for (const ScatterGroup& group : batch.groups)
        alone.push_back({{group.degree, group.sequences}});
    }
    ScatterPlan worse = compose_plan(std::get<ScatterInstance>(both.instance), alone);
    if (worse.objective_ms < plan.objective_ms * 1.001) continue;
    const Ms optimum = plan.objective_ms;
    state_bound(worse, worse.objective_ms, "subsets");
    plan = worse;
    const CheckedOutcome lie = judge(both);
    ASSERT_TRUE(lie.shown.claimed);
    EXPECT_NEAR(lie.proven->value, optimum, kTolerance * optimum);
  }
  EXPECT_GT(by_subsets, 10);
}

}  // namespace
}  // namespace stowage::families_tried_again_test
