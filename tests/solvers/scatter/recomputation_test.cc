// The oracle ladder of tests/solvers/scatter/ladder_test.cc for micro-batches that choose a
// recomputation mode: brute force = MILP by GLPK = MILP by CBC = all sets of sequences = the facade
// = the search that verify() makes again, beside rules, pipelines, terms of time and of memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "formulations/scatter/bounds.h"
#include "heuristics/scatter/registry.h"
#include "instances/scatter/certificate.h"
#include "instances/scatter/verify/reference_counts.h"
#include "instances/scatter/verify/verify.h"
#include "solvers/solve.h"
#include "tests/long_run.h"
#include "tests/oracles/scatter/brute_force.h"
#include "tests/solvers/scatter/rungs.h"
#include "tests/tiny_scatter.h"

namespace stowage::scatter_recomputation_test {
namespace {

const auto kInstances = static_cast<std::uint64_t>(in_long_run(100, 1000));
const auto kFew = static_cast<std::uint64_t>(in_long_run(50, 1000));
const auto kMilps = static_cast<std::uint64_t>(in_long_run(20, 1000));  // a tenth of a second each

TEST(ScatterRecomputation, BruteForcePlansVerifyAndAreFoundAgain) {
  std::uint64_t planned = 0;
  std::uint64_t mixed = 0;  // steps whose micro-batches have different recomputation modes
  std::map<std::string, int> used;
  for (std::uint64_t seed = 0; seed < 2 * kInstances; ++seed) {
    const ScatterInstance instance = tiny_recomputing_scatter(seed);
    const auto plan = brute_force(instance);
    if (!plan) continue;
    ++planned;
    expect_found_again(instance, *plan, seed);
    std::set<std::string> names;
    for (const ScatterMicroBatch& batch : plan->micro_batches) {
      names.insert(batch.recomputation);
      ++used[batch.recomputation];
    }
    mixed += names.size() > 1 ? 1 : 0;
  }
  EXPECT_GT(planned, kInstances);
  EXPECT_GT(mixed, kInstances / 50);
  EXPECT_EQ(used.size(), 4U) << "every way is the best now and then";
}

// No plan with one recomputation mode for all micro-batches is faster.
TEST(ScatterRecomputation, ChoiceIsNeverWorseThanAnyWayForAll) {
  std::uint64_t better = 0;
  for (std::uint64_t seed = 0; seed < kInstances; ++seed) {
    const ScatterInstance instance = tiny_recomputing_scatter(seed, 5, 6);
    const auto best = brute_force(instance);
    bool any = false;
    double least = 1e300;
    for (const Recomputation& way : instance.model.recomputation) {
      ScatterInstance alone = instance;
      alone.model.recomputation.assign(1, way);
      const auto plan = brute_force(alone);
      if (!plan) continue;
      any = true;
      least = std::min(least, plan->objective_ms);
      EXPECT_TRUE(verify(instance, *plan).empty()) << seed << all_of(verify(instance, *plan));
    }
    if (!any) continue;
    ASSERT_TRUE(best) << seed;
    EXPECT_LE(best->objective_ms, least + slack(least)) << seed;
    better += best->objective_ms < least - slack(least) ? 1 : 0;
  }
  EXPECT_GT(better, kInstances / 50);
}

// A single recomputation mode is equivalent to a model and costs with its values.
TEST(ScatterRecomputation, OneWayIsThatModel) {
  for (std::uint64_t seed = 0; seed < kInstances; ++seed) {
    ScatterInstance instance = tiny_recomputing_scatter(seed);
    ScatterInstance plain = instance;
    const Recomputation way = instance.model.recomputation.back();
    instance.model.recomputation.assign(1, way);
    plain.model.recomputation.clear();
    plain.model.activation_mib_per_token = way.activation_mib_per_token;
    plain.cost.quadratic_ms *= way.quadratic_factor;
    plain.cost.split_ms *= way.quadratic_factor;
    plain.cost.linear_ms *= way.linear_factor;
    plain.cost.all_to_all.mib_per_token *= way.exchange_factor;
    if (plain.cost.exchange) {
      plain.cost.exchange->all_to_all_mib_per_token *= way.exchange_factor;
      plain.cost.exchange->keys_values_mib_per_token *= way.exchange_factor;
    }
    const auto with = brute_force(instance);
    const auto without = brute_force(plain);
    ASSERT_EQ(with.has_value(), without.has_value()) << seed;
    if (!with) continue;
    EXPECT_NEAR(with->objective_ms, without->objective_ms, slack(with->objective_ms)) << seed;
  }
}

TEST(ScatterRecomputation, DocumentsReadBack) {
  std::set<std::string> hashes;
  for (std::uint64_t seed = 0; seed < kInstances; ++seed) {
    const ScatterInstance instance = tiny_recomputing_scatter(seed);
    hashes.insert(expect_read_back(instance, brute_force(instance), seed));
  }
  EXPECT_EQ(hashes.size(), kInstances);
}

// With the name of another recomputation mode a plan has another time or memory, or is refused.
TEST(ScatterRecomputation, APlanIsOfItsOwnWays) {
  std::map<std::string, int> broken;
  for (std::uint64_t seed = 0; seed < kInstances; ++seed) {
    const ScatterInstance instance = tiny_recomputing_scatter(seed);
    const auto plan = brute_force(instance);
    if (!plan || plan->micro_batches.empty()) continue;
    std::vector<std::string> names{"", "never heard of"};
    for (const Recomputation& way : instance.model.recomputation) names.push_back(way.name);
    for (const std::string& name : names) {
      ScatterPlan other = *plan;
      other.micro_batches.front().recomputation = name;
      for (const Violation& violation : verify(instance, other)) ++broken[violation.rule];
    }
    ScatterInstance without = instance;
    without.model.recomputation.clear();
    const auto violations = verify(without, *plan);
    EXPECT_TRUE(std::ranges::any_of(violations, [](const Violation& violation) {
      return violation.rule == "recomputation";
    })) << seed;
  }
  for (const char* rule : {"recomputation", "capacity", "time"})
    EXPECT_GT(broken[rule], 10) << rule;
}

TEST(ScatterRecomputation, AllSetsOfSequencesHaveTheOptimum) {
  std::uint64_t tried = 0;
  for (std::uint64_t seed = 0; seed < 2 * kInstances; ++seed) {
    const ScatterInstance instance = without_rules_on_batches(tiny_recomputing_scatter(seed));
    const auto optimum = brute_force(instance);
    if (!optimum || instance.lengths.empty()) continue;
    expect_sets_have_the_optimum(instance, *optimum, seed);
    ++tried;
  }
  EXPECT_GT(tried, kInstances);
}

TEST(ScatterRecomputation, BoundsAreBelowAndHeuristicsAboveTheOptimum) {
  std::uint64_t planned = 0;
  std::uint64_t best_found = 0;
  for (std::uint64_t seed = 0; seed < kInstances; ++seed) {
    const ScatterInstance instance = tiny_recomputing_scatter(seed);
    const auto optimum = brute_force(instance);
    if (!optimum || instance.lengths.empty()) continue;
    EXPECT_EQ(least_micro_batches(ScatterTable(instance)),
              true_fewest_micro_batches(instance, true_length_counts(instance)))
        << seed;
    const HeuristicPlans made = expect_bounds_below_and_heuristics_above(instance, *optimum, seed);
    planned += made.fast;
    best_found += made.fast_is_best;
  }
  EXPECT_GT(best_found, planned * 3 / 4) << "of " << planned;
}

// The long one of five sequences fits only with much recomputation, which the others do not need.
TEST(ScatterRecomputation, OnlyWhatMustRecomputeDoes) {
  ScatterInstance step{.name = "long and short",
                       .cluster = {.devices = 2, .memory_mib = 120, .degrees = {1, 2}},
                       .model = {.states_mib = 20, .activation_mib_per_token = 1},
                       .cost = {.linear_ms = 1, .fixed_ms = 1},
                       .lengths = {400, 50, 50, 50, 50}};
  step.model.recomputation = {
      {.name = "none", .activation_mib_per_token = 1},
      {.name = "full", .activation_mib_per_token = 0.25, .linear_factor = 1.25}};
  Budget budget;
  const Outcome outcome = solve(step, {.method = "auto"}, budget);
  ASSERT_TRUE(outcome.plan);
  EXPECT_EQ(outcome.status, Status::optimal);
  const auto& batches = std::get<ScatterPlan>(*outcome.plan).micro_batches;
  ASSERT_EQ(batches.size(), 2U);
  // 1.25 * 400 / 2 + 1, and two devices with 2 * 50 each, + 1.
  EXPECT_NEAR(*outcome.objective, 251 + 101, 1e-9);
  for (const ScatterMicroBatch& batch : batches) {
    const bool is_long = batch.groups.front().sequences.front() == 0;
    EXPECT_EQ(batch.recomputation, is_long ? "full" : "none");
  }
}

class ScatterRecomputationOf : public testing::TestWithParam<MilpBackend> {};

TEST_P(ScatterRecomputationOf, StepMilpEqualsBruteForce) {
  for (std::uint64_t seed = 0; seed < kMilps; ++seed) {
    const ScatterInstance instance = tiny_recomputing_scatter(seed, 4, 4);
    const auto optimum = brute_force(instance);
    if (!optimum || instance.lengths.empty()) continue;
    expect_milp_has_the_optimum(instance, *optimum, GetParam(), seed);
  }
}

// Certificates are valid. If a recomputation mode is cheaper than in the certificate, the
// certificate is refused or true.
TEST_P(ScatterRecomputationOf, CertifiedBoundsAreBelowTheOptimum) {
  std::uint64_t certified = 0;
  std::uint64_t refused = 0;
  double closed = 0;
  double planned = 0;
  for (std::uint64_t seed = 0; seed < kFew; ++seed) {
    const ScatterInstance instance = tiny_recomputing_scatter(seed);
    const auto optimum = brute_force(instance);
    if (!optimum || instance.lengths.empty()) continue;
    const double best = optimum->objective_ms;
    ScatterInstance cheaper = instance;
    for (Recomputation& way : cheaper.model.recomputation) way.activation_mib_per_token /= 2;
    const auto best_of_cheaper = brute_force(cheaper);
    const auto look = [&](const ScatterCertificate& certificate) {
      if (best_of_cheaper) {
        refused += refused_or_true(cheaper, best_of_cheaper->objective_ms, certificate, seed);
      }
      for (std::size_t level = 0; level < certificate.levels.size(); ++level) {
        for (int way = 0; way < 5; ++way) {
          ScatterCertificate lie = certificate;
          lie.levels[level].recomputation = way;
          refused += refused_or_true(instance, best, lie, seed);
        }
      }
    };
    const Certified found =
        expect_certificates_hold(instance, *optimum, GetParam(), 60, seed, look);
    certified += found.certificates;
    if (!(best > 0)) continue;
    closed += found.highest / best;
    planned += 1;
  }
  EXPECT_GT(certified, kFew / 2);
  EXPECT_GT(refused, kFew / 4);
  EXPECT_GT(closed, 0.75 * planned);
}

TEST_P(ScatterRecomputationOf, TheFacadeProvesTinySteps) {
  std::uint64_t planned = 0;
  for (std::uint64_t seed = 0; seed < kFew; ++seed) {
    planned += expect_facade_proves(tiny_recomputing_scatter(seed, 4, 4), GetParam(), seed);
  }
  EXPECT_GT(planned, kFew / 3);
}

TEST_P(ScatterRecomputationOf, PublishedMethodsKeepOneWayPerMicroBatch) {
  std::uint64_t planned = 0;
  for (std::uint64_t seed = 0; seed < kFew / 2; ++seed) {
    const ScatterInstance instance = tiny_recomputing_scatter(seed, 4, 4);
    const auto optimum = brute_force(instance);
    for (const char* method : {"flexsp", "flexsp-chunks"}) {
      Budget budget;
      const Outcome outcome = solve(instance, {.method = method, .backend = GetParam()}, budget);
      EXPECT_TRUE(outcome.violations.empty()) << method << ' ' << seed;
      if (!outcome.objective || !optimum) continue;
      ++planned;
      EXPECT_GE(*outcome.objective, optimum->objective_ms - slack(optimum->objective_ms)) << seed;
    }
  }
  EXPECT_GT(planned, kFew / 6);
}

INSTANTIATE_TEST_SUITE_P(Backends, ScatterRecomputationOf, testing::ValuesIn(built_backends()),
                         [](const auto& backend) { return std::string(name(backend.param)); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ScatterRecomputationOf);

}  // namespace
}  // namespace stowage::scatter_recomputation_test
