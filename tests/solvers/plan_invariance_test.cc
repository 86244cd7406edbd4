// The result of a step does not depend on the plan: loss and gradients of a real step are equal
// under plans of several methods and with different exchanges between ranks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <set>

#include "instances/json/document.h"
#include "instances/scatter/json/json.h"
#include "kernels/run/executor.h"
#include "kernels/scatter/packed_plan.h"
#include "solvers/solve.h"

namespace stowage::plan_invariance_test {
namespace {

ScatterInstance real_step() {
  const std::filesystem::path folder =
      std::filesystem::path(STOWAGE_SOURCE_DIR) / "instances/data/scatter/real";
  const auto text = read_text_file(folder / "7b-64gpu-192k-code-0.json");
  return *read_scatter_instance(*text, folder.string());
}

// Returns a plan of each method in this build that found one quickly.
std::vector<ScatterPlan> plans_of(const Instance& instance) {
  std::vector<ScatterPlan> plans;
  const std::vector<Method> built = methods(instance);
  for (const std::string name :
       {"homogeneous-64", "skrull", "bytescale", "flexsp", "fast", "auto"}) {
    if (std::ranges::find(built, name, &Method::name) == built.end()) continue;
    Budget budget({.time_limit_s = 1.5});
    Outcome outcome = solve(instance, {.method = name, .milp_seconds = 0.5}, budget);
    if (outcome.plan) plans.push_back(std::get<ScatterPlan>(std::move(*outcome.plan)));
  }
  return plans;
}

TEST(PlanInvariance, ARealStepComputesTheSameUnderEveryPlan) {
  const ScatterInstance instance = real_step();
  ASSERT_EQ(instance.lengths.size(), 512U);
  const std::vector<ScatterPlan> plans = plans_of(instance);
  ASSERT_GE(plans.size(), 5U);
  std::set<std::vector<std::vector<std::int64_t>>> groupings;
  std::optional<kernels::ExecutionReport> first;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    std::vector<std::vector<std::int64_t>> grouping;
    for (const ScatterMicroBatch& batch : plans[i].micro_batches) {
      for (const ScatterGroup& group : batch.groups) grouping.push_back(group.sequences);
    }
    groupings.insert(grouping);
    const kernels::Exchange exchange{
        .kind = static_cast<kernels::ExchangeKind>(i % kernels::kExchangeNames.size())};
    const kernels::ExecutionReport report =
        kernels::execute(instance, plans[i],
                         {.max_work_flop = 2e8, .max_ranks = 8, .exchange = exchange}, {}, nullptr);
    EXPECT_TRUE(report.passed()) << i;  // input and weight gradients within 5e-6 of the reference
    if (!first) first = report;
    EXPECT_EQ(report.reference_loss, first->reference_loss);
    // The terms of the sum nearly cancel: the plans agree better with each other than with double.
    EXPECT_NEAR(report.loss, first->loss, 1e-6 * std::abs(first->loss)) << i;
    EXPECT_NEAR(report.loss, report.reference_loss, 1e-5 * std::abs(report.reference_loss)) << i;
  }
  EXPECT_EQ(groupings.size(), plans.size()) << "two methods found the same plan";
}

TEST(PlanInvariance, ADamagedPlanComputesSomethingElse) {
  const ScatterInstance instance = real_step();
  Budget budget(Budget::Limits{});
  const Outcome outcome = solve(instance, {.method = "fast"}, budget);
  ASSERT_TRUE(outcome.plan);
  const ScatterPlan good = std::get<ScatterPlan>(*outcome.plan);
  const auto run = [&](const ScatterPlan& plan) {
    return kernels::execute(instance, plan, {.max_work_flop = 2e8, .max_ranks = 8}, {}, nullptr);
  };
  // A sequence loses one token to its neighbour.
  ScatterPlan shifted = good;
  for (ScatterMicroBatch& batch : shifted.micro_batches) {
    const auto group = std::ranges::find_if(
        batch.groups, [](const ScatterGroup& each) { return each.sequences.size() > 1; });
    if (group == batch.groups.end()) continue;
    group->cu_seqlens[1] -= 1;
    break;
  }
  const kernels::ExecutionReport moved = run(shifted);
  EXPECT_FALSE(moved.output.passed());
  EXPECT_FALSE(moved.input_gradient.passed());
  EXPECT_FALSE(moved.weight_gradient.passed());
  EXPECT_GT(std::abs(moved.loss - moved.reference_loss), 1e-3 * std::abs(moved.reference_loss));
  // A group is missing.
  ScatterPlan shortened = good;
  shortened.micro_batches[0].groups.pop_back();
  const kernels::ExecutionReport less = run(shortened);
  EXPECT_FALSE(less.weight_gradient.passed());
  EXPECT_GT(std::abs(less.loss - less.reference_loss), 1e-3 * std::abs(less.reference_loss));
}

}  // namespace
}  // namespace stowage::plan_invariance_test
