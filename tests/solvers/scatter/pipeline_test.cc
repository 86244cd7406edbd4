// The oracle ladder of tests/solvers/scatter/ladder_test.cc for pipelines, where the longest
// makespan counts once for every stage: brute force = MILP by GLPK = MILP by CBC = all sets of
// sequences = the facade = the search that verify() makes again, beside rules, terms of time and of
// memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "formulations/scatter/bounds.h"
#include "instances/pipeline/schedule.h"
#include "instances/scatter/certificate.h"
#include "instances/scatter/plan_builder.h"
#include "instances/scatter/verify/verify.h"
#include "solvers/solve.h"
#include "tests/long_run.h"
#include "tests/oracles/scatter/brute_force.h"
#include "tests/solvers/scatter/rungs.h"
#include "tests/tiny_scatter.h"

namespace stowage::scatter_pipeline_test {
namespace {

const auto kInstances = static_cast<std::uint64_t>(in_long_run(100, 1000));
const auto kFew = static_cast<std::uint64_t>(in_long_run(50, 1000));

TEST(ScatterPipeline, BruteForcePlansVerifyAndAreFoundAgain) {
  std::uint64_t planned = 0;
  std::uint64_t others = 0;  // steps whose best plan differs without the pipeline
  for (std::uint64_t seed = 0; seed < 2 * kInstances; ++seed) {
    const ScatterInstance instance = tiny_pipeline_scatter(seed);
    const auto plan = brute_force(instance);
    if (!plan) continue;
    ++planned;
    const double objective = plan->objective_ms;
    expect_found_again(instance, *plan, seed);
    ScatterInstance flat = instance;
    flat.pipeline_stages = 1;
    const auto shortest = brute_force(flat);
    ASSERT_TRUE(shortest) << seed;
    EXPECT_GE(objective, shortest->objective_ms - slack(objective)) << seed;
    Ms sum = 0;
    for (const ScatterMicroBatch& batch : plan->micro_batches) sum += batch.makespan_ms;
    others += sum > shortest->objective_ms + slack(sum) ? 1 : 0;
  }
  EXPECT_GT(planned, kInstances);
  EXPECT_GT(others, kInstances / 20);
}

// The end of the 1F1B schedule is stated, no order of the optimum's micro-batches that was tried
// ends before its bound, and the order of a solve ends no later than the order of its plan by
// makespans.
TEST(ScatterPipeline, PlansStateTheEndOfTheirSchedule) {
  std::uint64_t earlier = 0;
  for (std::uint64_t seed = 0; seed < 2 * kInstances; ++seed) {
    const ScatterInstance instance = tiny_pipeline_scatter(seed);
    const auto optimum = brute_force(instance);
    if (!optimum || instance.pipeline_stages == 1 || instance.lengths.empty()) continue;
    std::vector<Ms> times = makespans_of(*optimum);
    std::ranges::sort(times, std::greater<>{});
    const Ms longest_first = simulate_1f1b(times, instance.pipeline_stages);
    const Ms bound = simulated_bound(instance);
    EXPECT_LE(bound, longest_first + slack(longest_first)) << seed;
    Budget budget;
    const Outcome outcome = solve(instance, {.method = "fast"}, budget);
    ASSERT_TRUE(outcome.plan) << seed;
    const auto& plan = std::get<ScatterPlan>(*outcome.plan);
    EXPECT_TRUE(verify(instance, plan).empty()) << seed;
    times = makespans_of(plan);
    const Ms stated = plan.simulated_1f1b_ms;
    EXPECT_NEAR(stated, simulate_1f1b(times, instance.pipeline_stages), slack(stated)) << seed;
    EXPECT_LE(bound, stated + slack(stated)) << seed;
    std::ranges::sort(times, std::greater<>{});
    const Ms sorted = simulate_1f1b(times, instance.pipeline_stages);
    EXPECT_LE(stated, sorted + slack(sorted)) << seed;
    earlier += stated < sorted - slack(sorted) ? 1 : 0;
  }
  EXPECT_GT(earlier, kInstances / 20);
}

Outcome solved(const ScatterInstance& instance, const std::string& method, double tolerance,
               std::int64_t nodes) {
  Budget budget({.node_limit = nodes, .clock = BudgetClock::looks});
  return solve(instance, {.method = method, .params = {{"pipeline.tolerance", tolerance}}}, budget);
}

// A wider tolerance has more candidates, so that the plan ends no later, and its objective is above
// the least one by at most the tolerance.
TEST(ScatterPipeline, ThePlanThatEndsFirstIsChosen) {
  std::uint64_t earlier = 0;
  for (std::uint64_t seed = 0; seed < kFew; ++seed) {
    ScatterInstance instance = tiny_pipeline_scatter(seed, 24);
    if (instance.pipeline_stages == 1) continue;
    for (const char* method : {"fast", "auto"}) {
      const Outcome least = solved(instance, method, 0, 30);
      const Outcome chosen = solved(instance, method, 1, 30);
      ASSERT_EQ(least.plan.has_value(), chosen.plan.has_value()) << seed;
      if (!least.plan || instance.lengths.empty()) continue;
      ASSERT_TRUE(chosen.simulated_bound) << seed;
      const auto& plan = std::get<ScatterPlan>(*chosen.plan);
      EXPECT_TRUE(verify(instance, plan).empty()) << seed;
      EXPECT_LE(*chosen.simulated_bound, plan.simulated_1f1b_ms + slack(plan.simulated_1f1b_ms));
      if (std::string(method) == "auto") continue;
      const Ms without = std::get<ScatterPlan>(*least.plan).simulated_1f1b_ms;
      EXPECT_LE(plan.simulated_1f1b_ms, without + slack(without)) << seed;
      earlier += plan.simulated_1f1b_ms < without - slack(without) ? 1 : 0;
    }
  }
  EXPECT_GT(earlier, 0U);
}

// The candidates of a solve with a lower limit are candidates of one with a higher limit. Without a
// backend a node is a whole round of annealing, so that fewer of them take as long.
TEST(ScatterPipeline, MoreNodesNeverEndLater) {
  const bool rounds = built_backends().empty();
  std::uint64_t planned = 0;
  for (std::uint64_t seed = 0; seed < kFew / 2; ++seed) {
    const ScatterInstance instance = tiny_pipeline_scatter(seed, 24);
    if (instance.pipeline_stages == 1 || instance.lengths.empty()) continue;
    Ms last = kInfinity;
    for (const std::int64_t nodes : {0, 1, 10, rounds ? 20 : 40, rounds ? 30 : 120}) {
      const Outcome outcome = solved(instance, "auto", 0.02, nodes);
      if (!outcome.plan) continue;
      const Ms end = std::get<ScatterPlan>(*outcome.plan).simulated_1f1b_ms;
      EXPECT_LE(end, last + slack(last)) << seed << ' ' << nodes;
      last = end;
    }
    planned += last < kInfinity ? 1 : 0;
  }
  EXPECT_GT(planned, 0U);
}

TEST(ScatterPipeline, AllSetsOfSequencesHaveTheOptimum) {
  std::uint64_t tried = 0;
  for (std::uint64_t seed = 0; seed < 2 * kInstances; ++seed) {
    const ScatterInstance instance = without_rules_on_batches(tiny_pipeline_scatter(seed));
    const auto optimum = brute_force(instance);
    if (!optimum || instance.lengths.empty()) continue;
    expect_sets_have_the_optimum(instance, *optimum, seed);
    ++tried;
  }
  EXPECT_GT(tried, kInstances);
}

TEST(ScatterPipeline, BoundsAreBelowAndHeuristicsAboveTheOptimum) {
  for (std::uint64_t seed = 0; seed < kInstances; ++seed) {
    const ScatterInstance instance = tiny_pipeline_scatter(seed);
    const auto optimum = brute_force(instance);
    if (!optimum) continue;
    expect_bounds_below_and_heuristics_above(instance, *optimum, seed);
  }
}

// Four sequences of 4 ms on two devices: one micro-batch of 1 + 8 ms, or two of 1 + 4 ms.
TEST(ScatterPipeline, MoreAndShorterMicroBatchesWinInADeepPipeline) {
  ScatterInstance step{.name = "deep",
                       .cluster = {.devices = 2, .memory_mib = 100, .degrees = {1}},
                       .model = {.states_mib = 20, .activation_mib_per_token = 1},
                       .cost = {.linear_ms = 0.1, .fixed_ms = 1},
                       .lengths = {40, 40, 40, 40}};
  for (const auto& [stages, batches, objective] :
       {std::tuple(1, 1, 9.0), std::tuple(2, 2, 15.0), std::tuple(8, 2, 45.0)}) {
    step.pipeline_stages = stages;
    Budget budget;
    const Outcome outcome = solve(step, {.method = "auto"}, budget);
    ASSERT_TRUE(outcome.plan);
    EXPECT_EQ(outcome.status, Status::optimal);
    EXPECT_EQ(std::ssize(std::get<ScatterPlan>(*outcome.plan).micro_batches), batches);
    EXPECT_NEAR(*outcome.objective, objective, 1e-9);
  }
}

class ScatterPipelineOf : public testing::TestWithParam<MilpBackend> {};

TEST_P(ScatterPipelineOf, StepMilpEqualsBruteForce) {
  for (std::uint64_t seed = 0; seed < kInstances; ++seed) {
    const ScatterInstance instance = tiny_pipeline_scatter(seed, 4, 4);
    const auto optimum = brute_force(instance);
    if (!optimum || instance.lengths.empty()) continue;
    expect_milp_has_the_optimum(instance, *optimum, GetParam(), seed);
  }
}

// Certificates are valid for their pipeline; for a shorter pipeline they are refused or true too.
TEST_P(ScatterPipelineOf, CertifiedBoundsAreBelowTheOptimum) {
  std::uint64_t certified = 0;
  std::uint64_t refused = 0;
  double closed = 0;
  double planned = 0;
  for (std::uint64_t seed = 0; seed < kInstances; ++seed) {
    const ScatterInstance instance = tiny_pipeline_scatter(seed);
    const auto optimum = brute_force(instance);
    if (!optimum || instance.lengths.empty()) continue;
    ScatterInstance shorter = instance;
    shorter.pipeline_stages -= 1;
    const double best_of_shorter = brute_force(shorter)->objective_ms;
    const auto look = [&](const ScatterCertificate& certificate) {
      refused += refused_or_true(shorter, best_of_shorter, certificate, seed);
    };
    const Certified found =
        expect_certificates_hold(instance, *optimum, GetParam(), 60, seed, look);
    certified += found.certificates;
    if (!(optimum->objective_ms > 0)) continue;
    closed += found.highest / optimum->objective_ms;
    planned += 1;
  }
  EXPECT_GT(certified, kInstances / 2);
  EXPECT_GT(refused, kInstances / 4);
  EXPECT_GT(closed, 0.8 * planned);
}

// The dual simplex of GLPK 5.0 cycles on these.
TEST_P(ScatterPipelineOf, ALinearProgramInCirclesIsEnded) {
  for (const std::uint64_t seed : {std::uint64_t{252}, std::uint64_t{416}}) {
    const ScatterInstance instance = tiny_pipeline_scatter(seed);
    const auto optimum = brute_force(instance);
    ASSERT_TRUE(optimum) << seed;
    const Certified found = expect_certificates_hold(instance, *optimum, GetParam(), 60, seed, {});
    EXPECT_GT(found.certificates, 0U) << seed;
  }
}

TEST_P(ScatterPipelineOf, TheFacadeProvesTinySteps) {
  std::uint64_t planned = 0;
  for (std::uint64_t seed = 0; seed < kFew; ++seed) {
    planned += expect_facade_proves(tiny_pipeline_scatter(seed, 4, 4), GetParam(), seed);
  }
  EXPECT_GT(planned, kFew / 3);
}

// Published methods minimise the sum, and their reported objective is the step time.
TEST_P(ScatterPipelineOf, PublishedMethodsAreValuedByTheStep) {
  std::uint64_t planned = 0;
  for (std::uint64_t seed = 0; seed < kFew / 2; ++seed) {
    const ScatterInstance instance = tiny_pipeline_scatter(seed, 4, 4);
    const auto optimum = brute_force(instance);
    for (const char* method : {"flexsp", "flexsp-chunks"}) {
      Budget budget;
      const Outcome outcome = solve(instance, {.method = method, .backend = GetParam()}, budget);
      EXPECT_TRUE(outcome.violations.empty()) << method << ' ' << seed;
      if (!outcome.objective || !optimum) continue;
      ++planned;
      EXPECT_GE(*outcome.objective, optimum->objective_ms - slack(optimum->objective_ms)) << seed;
      if (outcome.method_bound) {
        EXPECT_LE(*outcome.method_bound, *outcome.objective + slack(*outcome.objective)) << seed;
      }
    }
  }
  EXPECT_GT(planned, kFew / 6);
}

// The repair merges its micro-batches to an allowed number. The result is not a grouping of its
// chunks, and is faster than all of these.
TEST_P(ScatterPipelineOf, APlanThatIsMendedHasNoBoundOfItsChunks) {
  Budget budget;
  const Outcome outcome = solve(tiny_pipeline_scatter(475, 4, 4),
                                {.method = "flexsp-chunks", .backend = GetParam()}, budget);
  EXPECT_TRUE(outcome.plan);
  EXPECT_FALSE(outcome.method_bound);
}

INSTANTIATE_TEST_SUITE_P(Backends, ScatterPipelineOf, testing::ValuesIn(built_backends()),
                         [](const auto& backend) { return std::string(name(backend.param)); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ScatterPipelineOf);

}  // namespace
}  // namespace stowage::scatter_pipeline_test
