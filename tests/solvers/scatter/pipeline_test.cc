// The oracle ladder of tests/solvers/scatter/ladder_test.cc for pipelines, where the longest
// makespan counts once for every stage: brute force = MILP by GLPK = MILP by CBC = all sets of
// sequences = the facade = the search that verify() makes again, beside rules, terms of time and of
// memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "formulations/scatter/bounds.h"
#include "heuristics/scatter/registry.h"
#include "instances/scatter/certificate.h"
#include "instances/scatter/json.h"
#include "instances/scatter/optimum.h"
#include "instances/scatter/verify.h"
#include "solvers/incumbent.h"
#include "solvers/scatter/exact.h"
#include "solvers/scatter/profile_bound.h"
#include "solvers/scatter/step_bound.h"
#include "solvers/scatter/subsets.h"
#include "solvers/solve.h"
#include "tests/long_run.h"
#include "tests/oracles/scatter/brute_force.h"
#include "tests/tiny_scatter.h"

namespace stowage {
namespace {

const auto kInstances = static_cast<std::uint64_t>(in_long_run(100, 1000));
const auto kFew = static_cast<std::uint64_t>(in_long_run(50, 1000));
constexpr double kTolerance = 1e-6;

std::string all_of(const std::vector<Violation>& violations) {
  std::string text;
  for (const Violation& violation : violations) text += ' ' + to_string(violation);
  return text;
}

double slack(double value) { return kTolerance * std::max(1.0, value); }

TEST(ScatterPipeline, BruteForcePlansVerifyAndAreFoundAgain) {
  std::uint64_t planned = 0;
  std::uint64_t others = 0;  // whose best plan is another without the pipeline
  for (std::uint64_t seed = 0; seed < 2 * kInstances; ++seed) {
    const ScatterInstance instance = tiny_pipeline_scatter(seed);
    const auto plan = brute_force(instance);
    if (!plan) continue;
    ++planned;
    const double objective = plan->objective_ms;
    EXPECT_TRUE(verify(instance, *plan).empty()) << seed << all_of(verify(instance, *plan));
    EXPECT_NEAR(*least_objective(instance, 2 * objective + 1), objective, slack(objective)) << seed;
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

TEST(ScatterPipeline, AllSetsOfSequencesHaveTheOptimum) {
  std::uint64_t tried = 0;
  for (std::uint64_t seed = 0; seed < 2 * kInstances; ++seed) {
    ScatterInstance instance = tiny_pipeline_scatter(seed);
    instance.rules.no_idle_ranks = false;  // of which this search knows nothing
    instance.rules.equal_sequences = false;
    instance.rules.micro_batches_multiple_of = 1;
    const auto plan = brute_force(instance);
    if (!plan || instance.lengths.empty()) continue;
    const ScatterTable table(instance);
    for (const double above : {1 + kTolerance, 1.5}) {
      Budget budget;
      const auto step = best_of_subsets(table, plan->objective_ms * above + kTolerance, budget);
      ASSERT_TRUE(step) << seed;
      EXPECT_NEAR(step_ms(table, *step), plan->objective_ms, slack(plan->objective_ms)) << seed;
      EXPECT_TRUE(verify(instance, to_plan(instance, table, *step)).empty()) << seed;
    }
    ++tried;
  }
  EXPECT_GT(tried, kInstances);
}

TEST(ScatterPipeline, BoundsAreBelowAndHeuristicsAboveTheOptimum) {
  for (std::uint64_t seed = 0; seed < kInstances; ++seed) {
    const ScatterInstance instance = tiny_pipeline_scatter(seed);
    const auto optimum = brute_force(instance);
    if (!optimum) continue;
    const double best = optimum->objective_ms;
    for (const NamedBound& bound : scatter_bounds(ScatterTable(instance))) {
      EXPECT_LE(bound.value, best + slack(best)) << bound.name << ' ' << seed;
    }
    for (const ScatterHeuristic& heuristic : heuristics(instance)) {
      if (heuristic.name == "joint") continue;  // `fast` with more moves
      const auto plan = heuristic.run(instance, ScatterTable(instance), seed, Budget());
      if (!plan) continue;
      EXPECT_GE(plan->objective_ms, best - slack(best)) << heuristic.name << ' ' << seed;
      EXPECT_TRUE(verify(instance, *plan).empty())
          << heuristic.name << ' ' << seed << all_of(verify(instance, *plan));
    }
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
    const double best = optimum->objective_ms;
    Budget budget;
    Incumbent incumbent(instance, budget, {});
    for (const ScatterHeuristic& heuristic : heuristics(instance)) {
      if (heuristic.name != "batch-ada") continue;
      auto plan = heuristic.run(instance, ScatterTable(instance), 0, budget);
      if (plan) incumbent.offer(*std::move(plan), 'H', heuristic.name);
    }
    EXPECT_EQ(solve_step_milp(instance, {.backend = GetParam()}, incumbent, budget),
              StoppedBy::proof)
        << seed;
    ASSERT_TRUE(incumbent.plan()) << seed;
    EXPECT_NEAR(incumbent.plan()->objective_ms, best, slack(best)) << seed;
    EXPECT_NEAR(incumbent.bound(), best, slack(best)) << seed;
  }
}

// Certificates hold for their pipeline; for a shorter one they are refused, or true there too.
TEST_P(ScatterPipelineOf, CertifiedBoundsAreBelowTheOptimum) {
  std::uint64_t certified = 0;
  std::uint64_t refused = 0;
  double closed = 0;
  double planned = 0;
  for (std::uint64_t seed = 0; seed < kInstances; ++seed) {
    const ScatterInstance instance = tiny_pipeline_scatter(seed);
    const auto optimum = brute_force(instance);
    if (!optimum || instance.lengths.empty()) continue;
    const double best = optimum->objective_ms;
    ScatterInstance shorter = instance;
    shorter.pipeline_stages -= 1;
    const double best_of_shorter = brute_force(shorter)->objective_ms;
    double highest = 0;
    const auto look = [&](const ScatterCertificate& certificate) {
      const CertificateCheck check = check_certificate(instance, certificate);
      EXPECT_TRUE(check.violations.empty()) << seed << ' ' << all_of(check.violations);
      EXPECT_LE(check.bound_ms, best + slack(best)) << seed;
      highest = std::max(highest, check.bound_ms);
      ++certified;
      const CertificateCheck other = check_certificate(shorter, certificate);
      refused += other.violations.empty() ? 0 : 1;
      EXPECT_TRUE(!other.violations.empty() ||
                  other.bound_ms <= best_of_shorter + slack(best_of_shorter))
          << seed;
    };
    Budget budget({.node_limit = 60});
    ScatterStepBound step(instance, {.backend = GetParam()}, best, look);
    step.improve(budget);
    Budget boxes({.node_limit = 10});
    ScatterProfileBound profile(instance, GetParam(), best, look);
    if (profile.promising()) profile.improve(boxes);
    if (best > 0) closed += highest / best;
    if (best > 0) planned += 1;
  }
  EXPECT_GT(certified, kInstances / 2);
  EXPECT_GT(refused, kInstances / 4);
  EXPECT_GT(closed, 0.8 * planned);
}

TEST_P(ScatterPipelineOf, TheFacadeProvesTinySteps) {
  std::uint64_t planned = 0;
  for (std::uint64_t seed = 0; seed < kFew; ++seed) {
    const ScatterInstance instance = tiny_pipeline_scatter(seed, 4, 4);
    const auto optimum = brute_force(instance);
    Budget budget;
    const Outcome outcome = solve(instance, {.method = "exact", .backend = GetParam()}, budget);
    if (!optimum) {
      ASSERT_EQ(outcome.status, Status::infeasible) << seed << ' ' << outcome.detail;
      continue;
    }
    ++planned;
    EXPECT_EQ(outcome.status, Status::optimal) << seed << ' ' << outcome.detail;
    ASSERT_TRUE(outcome.objective) << seed;
    EXPECT_NEAR(*outcome.objective, optimum->objective_ms, slack(optimum->objective_ms)) << seed;
    EXPECT_TRUE(outcome.violations.empty()) << seed;
  }
  EXPECT_GT(planned, kFew / 3);
}

// Published methods plan for the sum, and what they report is what the step takes.
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

INSTANTIATE_TEST_SUITE_P(Backends, ScatterPipelineOf, testing::ValuesIn(built_backends()),
                         [](const auto& backend) { return std::string(name(backend.param)); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ScatterPipelineOf);

}  // namespace
}  // namespace stowage
