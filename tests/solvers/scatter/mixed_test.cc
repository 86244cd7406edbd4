// The oracle ladder of tests/solvers/scatter/ladder_test.cc for mixed micro-batches.
#include "instances/scatter/cost/mixed.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "formulations/scatter/bounds.h"
#include "heuristics/scatter/registry.h"
#include "instances/scatter/json/json.h"
#include "instances/scatter/verify/verify.h"
#include "solvers/scatter/explain/explain.h"
#include "solvers/solve.h"
#include "tests/long_run.h"
#include "tests/oracles/scatter/mixed_brute_force.h"
#include "tests/solvers/scatter/rungs.h"
#include "tests/tiny_mixed_scatter.h"

namespace stowage::scatter_mixed_test {
namespace {

const auto kInstances = static_cast<std::uint64_t>(in_long_run(60, 1000));

bool mixes(const ScatterInstance& instance, const ScatterPlan& plan) {
  return std::ranges::any_of(plan.micro_batches, [&](const ScatterMicroBatch& batch) {
    return mixed_times(instance, batch.groups).has_value();
  });
}

TEST(ScatterMixed, BruteForcePlansVerifyAndAreFoundAgain) {
  std::uint64_t compared = 0;
  std::uint64_t mixed = 0;
  for (std::uint64_t seed = 0; compared < 1000; ++seed) {
    const ScatterInstance instance = tiny_mixed_scatter(seed, 5, 4);
    const auto plan = mixed_brute_force(instance);
    if (!plan || instance.lengths.empty()) continue;
    ++compared;
    expect_found_again(instance, *plan, seed);
    mixed += mixes(instance, *plan) ? 1 : 0;
  }
  EXPECT_GT(mixed, 150);
}

TEST(ScatterMixed, DocumentsReadBack) {
  for (std::uint64_t seed = 0; seed < kInstances; ++seed) {
    const ScatterInstance instance = tiny_mixed_scatter(seed, 5, 4);
    expect_read_back(instance, mixed_brute_force(instance), seed);
    const auto back = read_scatter_instance(write_scatter_instance(instance));
    ASSERT_TRUE(back) << seed;
    EXPECT_EQ(back->mixed, instance.mixed) << seed;
    ScatterInstance plain = instance;
    plain.mixed.reset();
    EXPECT_NE(instance_hash(plain), instance_hash(instance)) << seed;
  }
}

TEST(ScatterMixed, BoundsAreBelowAndHeuristicsAboveTheOptimum) {
  std::uint64_t planned = 0;
  std::uint64_t best_found = 0;
  for (std::uint64_t seed = 0; seed < 4 * kInstances; ++seed) {
    const ScatterInstance instance = tiny_mixed_scatter(seed, 5, 4);
    const auto optimum = mixed_brute_force(instance);
    if (!optimum || instance.lengths.empty()) continue;
    const HeuristicPlans made = expect_bounds_below_and_heuristics_above(instance, *optimum, seed);
    planned += made.fast;
    best_found += made.fast_is_best;
  }
  EXPECT_GT(best_found, planned * 4 / 5) << "of " << planned;
}

// A plan without mixed micro-batches is a plan with them, and no hidden share makes it slower.
TEST(ScatterMixed, IsNeverWorseThanWithout) {
  std::uint64_t faster = 0;
  for (std::uint64_t seed = 0; seed < kInstances; ++seed) {
    const ScatterInstance instance = tiny_mixed_scatter(seed, 6, 4);
    if (instance.lengths.empty()) continue;
    ScatterInstance plain = instance;
    plain.mixed.reset();
    Budget budget;
    const Outcome with = solve(instance, {.method = "fast"}, budget);
    Budget other;
    const Outcome without = solve(plain, {.method = "fast"}, other);
    if (!without.objective) continue;
    ASSERT_TRUE(with.objective) << seed;
    EXPECT_TRUE(with.violations.empty()) << seed;
    EXPECT_LE(*with.objective, *without.objective * (1 + 1e-12)) << seed;
    faster += *with.objective < 0.99 * *without.objective ? 1 : 0;
    Budget published;
    const Outcome skrull = solve(instance, {.method = "skrull"}, published);
    if (!skrull.objective) continue;
    EXPECT_LE(*with.objective, *skrull.objective * (1 + 1e-12)) << seed;
  }
  EXPECT_GT(faster, kInstances / 12);
}

// The optimum of a larger hidden share is never slower.
TEST(ScatterMixed, HidingMoreIsNeverSlower) {
  for (std::uint64_t seed = 0; seed < kInstances; ++seed) {
    ScatterInstance instance = tiny_mixed_scatter(seed, 5, 4);
    Ms before = kInfinity;
    for (const double share : {0.0, 0.5, 1.0}) {
      instance.mixed->hidden_share = share;
      const auto plan = mixed_brute_force(instance);
      if (!plan) break;
      EXPECT_LE(plan->objective_ms, before + slack(plan->objective_ms)) << seed;
      before = plan->objective_ms;
    }
  }
}

// Each rule of a mixed micro-batch fails a plan that breaks it alone.
TEST(ScatterMixed, EachRuleHasAFailingPlan) {
  const ScatterInstance instance{.name = "both",
                                 .cluster = {.devices = 2, .memory_mib = 30, .degrees = {1, 2}},
                                 .model = {.states_mib = 10, .activation_mib_per_token = 1},
                                 .cost = {.linear_ms = 1,
                                          .fixed_ms = 5,
                                          .all_to_all = {.mib_per_token = 1,
                                                         .mib_per_ms = {{2, 0.5}},
                                                         .latency_ms = {{2, 2}}}},
                                 .mixed = MixedMicroBatches{},
                                 .lengths = {24, 6, 8}};
  // The shared row takes 5 + 2 + 12 + 24 ms, and hides 24 ms of the 8 ms of the longest own row.
  const ScatterPlan plan = compose_plan(instance, {{{.degree = 2, .sequences = {0}},
                                                    {.degree = 1, .sequences = {1}},
                                                    {.degree = 1, .sequences = {2}}}});
  EXPECT_DOUBLE_EQ(plan.objective_ms, 43);
  EXPECT_TRUE(verify(instance, plan).empty()) << all_of(verify(instance, plan));
  const auto broken = [&](const ScatterInstance& step, const auto& change) {
    ScatterPlan changed = plan;
    change(changed);
    std::vector<std::string> rules;
    for (const Violation& violation : verify(step, changed)) rules.push_back(violation.rule);
    return rules;
  };
  using Rules = std::vector<std::string>;
  const auto keep = [](ScatterPlan&) {};
  ScatterInstance tight = instance;
  tight.cluster.memory_mib = 29;  // 12 + 8 tokens on the second device
  EXPECT_EQ(broken(tight, keep), Rules{"capacity"});
  ScatterInstance limited = instance;
  limited.rules.max_tokens_per_rank = 19;
  EXPECT_EQ(broken(limited, keep), Rules{"capacity"});
  ScatterInstance slower = instance;
  slower.mixed->hidden_share = 0.25;  // 6 of the 8 ms hide
  EXPECT_EQ(broken(slower, keep), (Rules{"makespan", "objective"}));
  ScatterInstance plain = instance;
  plain.mixed.reset();
  EXPECT_EQ(broken(plain, keep), (Rules{"rank_overlap", "rank_overlap", "devices"}));
  EXPECT_EQ(broken(instance,
                   [](ScatterPlan& changed) { changed.micro_batches[0].groups[2].first_rank = 0; }),
            Rules{"rank_overlap"});
  EXPECT_EQ(broken(instance,
                   [](ScatterPlan& changed) {
                     changed.micro_batches[0].makespan_ms -= 1;
                     changed.objective_ms -= 1;
                   }),
            (Rules{"makespan", "objective"}));
  // Two shared rows in one micro-batch.
  const ScatterPlan twice = compose_plan(
      instance, {{{.degree = 2, .sequences = {0}}, {.degree = 2, .sequences = {1, 2}}}});
  Rules rules;
  for (const Violation& violation : verify(instance, twice)) rules.push_back(violation.rule);
  EXPECT_TRUE(std::ranges::count(rules, "devices") == 1) << all_of(verify(instance, twice));
}

TEST(ScatterMixed, CertificatesAreRefused) {
  ScatterInstance instance = tiny_mixed_scatter(8, 5, 4);
  const CertificateCheck check = check_certificate(instance, ScatterCertificate{});
  EXPECT_FALSE(check.violations.empty());
  EXPECT_EQ(check.bound_ms, 0);
}

// Changes of `explain` are steps that may be mixed, and each is planned.
TEST(ScatterMixed, ChangesAreSteps) {
  std::uint64_t tried = 0;
  for (std::uint64_t seed = 0; seed < kInstances; ++seed) {
    const ScatterInstance instance = tiny_mixed_scatter(seed, 6, 4);
    if (instance.lengths.empty()) continue;
    Budget budget;
    const Outcome outcome = solve(instance, {.method = "fast"}, budget);
    std::vector<Change> changes;
    if (outcome.plan) {
      changes = changes_of(instance, std::get<ScatterPlan>(*outcome.plan));
    } else {
      const Trial trial = [](const Instance& step) {
        Budget part;
        return solve(step, {.method = "fast"}, part);
      };
      changes = conflict_in(instance, trial).changes;
    }
    for (const Change& change : changes) {
      const auto& changed = std::get<ScatterInstance>(change.instance);
      EXPECT_TRUE(is_well_formed(changed)) << seed << ' ' << change.where;
      Budget more;
      EXPECT_TRUE(solve(changed, {.method = "fast"}, more).plan) << seed << ' ' << change.where;
      ++tried;
    }
  }
  EXPECT_GT(tried, kInstances / 2);
}

// The best move of `explain` is one that makes the plan faster.
TEST(ScatterMixed, ExplainNamesAMoveThatHelps) {
  std::uint64_t helped = 0;
  for (std::uint64_t seed = 0; seed < kInstances; ++seed) {
    const ScatterInstance instance = tiny_mixed_scatter(seed, 6, 4);
    if (instance.lengths.empty()) continue;
    Budget budget;
    const Outcome outcome = solve(instance, {.method = "skrull"}, budget);
    if (!outcome.plan) continue;
    const auto& plan = std::get<ScatterPlan>(*outcome.plan);
    const Moves moves = binding_of(instance, plan).moves;
    const auto optimum = mixed_brute_force(instance);
    ASSERT_TRUE(optimum) << seed;
    EXPECT_GE(plan.objective_ms - moves.best_gain, optimum->objective_ms * (1 - 1e-9)) << seed;
    helped += moves.best_gain > 0 ? 1 : 0;
  }
  EXPECT_GT(helped, 0);
}

class ScatterMixedOf : public testing::TestWithParam<MilpBackend> {};

TEST_P(ScatterMixedOf, StepMilpEqualsBruteForce) {
  std::uint64_t compared = 0;
  for (std::uint64_t seed = 0; compared < kInstances; ++seed) {
    const ScatterInstance instance = tiny_mixed_scatter(seed, 4, 3);
    const auto optimum = mixed_brute_force(instance);
    if (!optimum || instance.lengths.empty()) continue;
    ++compared;
    expect_milp_has_the_optimum(instance, *optimum, GetParam(), seed);
  }
}

TEST_P(ScatterMixedOf, AutoProvesSmallSteps) {
  std::uint64_t compared = 0;
  for (std::uint64_t seed = 0; compared < kInstances / 3; ++seed) {
    const ScatterInstance instance = tiny_mixed_scatter(seed, 4, 3);
    const auto optimum = mixed_brute_force(instance);
    if (!optimum || instance.lengths.empty()) continue;
    ++compared;
    for (const char* method : {"auto", "exact"}) {
      Budget budget;
      const Outcome outcome = solve(instance, {.method = method, .backend = GetParam()}, budget);
      ASSERT_TRUE(outcome.objective) << method << seed;
      EXPECT_NEAR(*outcome.objective, optimum->objective_ms, slack(optimum->objective_ms))
          << method << seed;
      EXPECT_EQ(outcome.status, Status::optimal) << method << seed;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, ScatterMixedOf, testing::ValuesIn(built_backends()),
                         [](const auto& backend) { return std::string(name(backend.param)); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ScatterMixedOf);

}  // namespace
}  // namespace stowage::scatter_mixed_test
