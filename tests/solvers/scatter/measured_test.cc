// Steps with measured times in a table by tokens and squares: brute force = all sets of sequences =
// the facade = verify()'s own search. Bounds and certificates are below the optimum and heuristics
// above it, with rules, pipelines and terms of memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>

#include "formulations/scatter/bounds.h"
#include "heuristics/scatter/registry.h"
#include "instances/numeric/random.h"
#include "instances/scatter/certificate.h"
#include "instances/scatter/json/json.h"
#include "instances/scatter/verify/reference_model.h"
#include "instances/scatter/verify/verify.h"
#include "solvers/solve.h"
#include "tests/long_run.h"
#include "tests/oracles/scatter/brute_force.h"
#include "tests/solvers/scatter/rungs.h"
#include "tests/tiny_scatter.h"

namespace stowage::scatter_measured_test {
namespace {

const auto kInstances = static_cast<std::uint64_t>(in_long_run(100, 1000));
const auto kFew = static_cast<std::uint64_t>(in_long_run(50, 1000));

TEST(ScatterMeasured, BruteForcePlansVerifyAndAreFoundAgain) {
  std::uint64_t planned = 0;
  for (std::uint64_t seed = 0; seed < 2 * kInstances; ++seed) {
    const ScatterInstance instance = tiny_measured_scatter(seed);
    const auto plan = brute_force(instance);
    if (!plan) continue;
    ++planned;
    expect_found_again(instance, *plan, seed);
  }
  EXPECT_GT(planned, kInstances);
}

TEST(ScatterMeasured, DocumentsReadBack) {
  std::set<std::string> hashes;
  for (std::uint64_t seed = 0; seed < kInstances; ++seed) {
    const ScatterInstance instance = tiny_measured_scatter(seed);
    hashes.insert(expect_read_back(instance, brute_force(instance), seed));
    ScatterInstance other = instance;
    other.cost.table.begin()->second.ms.back() += 1;
    EXPECT_NE(instance_hash(other), instance_hash(instance)) << seed;
  }
  EXPECT_EQ(hashes.size(), kInstances);
}

// A table whose grid is a plane equals a formula.
TEST(ScatterMeasured, APlaneIsTheFormula) {
  std::uint64_t planned = 0;
  for (std::uint64_t seed = 0; seed < kInstances; ++seed) {
    ScatterInstance table = tiny_measured_scatter(seed);
    ScatterInstance formula = table;
    formula.cost = {.quadratic_ms = 0.01, .linear_ms = 0.3, .fixed_ms = 7};
    for (auto& [degree, grid] : table.cost.table) {
      for (std::size_t i = 0; i < grid.tokens.size(); ++i) {
        for (std::size_t j = 0; j < grid.squares.size(); ++j) {
          grid.ms[i * grid.squares.size() + j] =
              7 + (0.3 * grid.tokens[i] + 0.01 * grid.squares[j]) / degree;
        }
      }
    }
    const auto with = brute_force(table);
    const auto without = brute_force(formula);
    ASSERT_EQ(with.has_value(), without.has_value()) << seed;
    if (!with || table.lengths.empty()) continue;
    ++planned;
    const double best = with->objective_ms;
    EXPECT_NEAR(best, without->objective_ms, slack(best)) << seed;
    // Then the plane below equals the times.
    const ScatterTable measured(table);
    const ScatterTable stated(formula);
    EXPECT_NEAR(measured.total_area(), stated.total_area(), slack(stated.total_area())) << seed;
    EXPECT_NEAR(measured.least_overhead(), 7, 1e-6) << seed;
  }
  EXPECT_GT(planned, kInstances / 2);
}

// The planes of bounds are below the times of all groups, by the grid and by the verifier's own
// check; a higher plane is detected.
TEST(ScatterMeasured, PlanesAreBelowTheTimes) {
  std::uint64_t caught = 0;
  std::uint64_t touching = 0;
  for (std::uint64_t seed = 0; seed < kInstances; ++seed) {
    const ScatterInstance instance = tiny_measured_scatter(seed);
    if (instance.lengths.empty()) continue;
    const ScatterTable table(instance);
    const ScatterReferenceModel truth(instance);
    std::mt19937_64 random(seed);
    for (int l = 0; l < static_cast<int>(table.configs().size()); ++l) {
      const GroupConfig& level = table.configs()[static_cast<std::size_t>(l)];
      const AffineTime below = *level.below;
      const Tokens shortest = table.kinds().back().length;
      Tokens longest = shortest;
      for (const DistinctLength& kind : table.kinds()) {
        if (kind.length <= level.longest) longest = std::max(longest, kind.length);
      }
      EXPECT_TRUE(truth.takes_at_least(below, level.degree, shortest, longest)) << seed;
      AffineTime higher = below;
      higher.ms = below.ms * 1.001 + 1e-3;
      touching += truth.takes_at_least(higher, level.degree, shortest, longest) ? 0 : 1;
      double least = 1e300;  // least distance of random groups' times from the plane
      for (int group = 0; group < 50; ++group) {
        Tokens tokens = 0;
        double squares = 0;
        while (true) {
          const Tokens next =
              shortest +
              static_cast<Tokens>(draw(random, static_cast<std::uint64_t>(longest - shortest) + 1));
          const TimeGrid& grid = instance.cost.table.at(level.degree);
          const auto more = static_cast<double>(next);
          if (static_cast<double>(tokens) + more > grid.tokens.back()) break;
          if (squares + more * more > grid.squares.back()) break;
          tokens += next;
          squares += static_cast<double>(next) * static_cast<double>(next);
          const double time = table.time(l, {static_cast<double>(tokens), squares});
          const double least_time = below.at(static_cast<double>(tokens), squares);
          EXPECT_LE(least_time, time) << seed;
          EXPECT_NEAR(time,
                      static_cast<double>(ScatterReferenceModel::looked_up(
                          instance.cost.table.at(level.degree), tokens, squares)),
                      slack(time));
          least = std::min(least, time - least_time);
        }
      }
      if (least == 1e300) continue;
      higher.ms = below.ms + least + 1e-3;
      caught += truth.takes_at_least(higher, level.degree, shortest, longest) ? 0 : 1;
      EXPECT_FALSE(truth.takes_at_least(higher, level.degree, shortest, longest)) << seed;
    }
  }
  EXPECT_GT(caught, kInstances / 2);
  EXPECT_GT(touching, kInstances / 2);
}

TEST(ScatterMeasured, AllSetsOfSequencesHaveTheOptimum) {
  std::uint64_t tried = 0;
  for (std::uint64_t seed = 0; seed < 2 * kInstances; ++seed) {
    const ScatterInstance instance = without_rules_on_batches(tiny_measured_scatter(seed));
    const auto optimum = brute_force(instance);
    if (!optimum || instance.lengths.empty()) continue;
    expect_sets_have_the_optimum(instance, *optimum, seed);
    ++tried;
  }
  EXPECT_GT(tried, kInstances);
}

TEST(ScatterMeasured, BoundsAreBelowAndHeuristicsAboveTheOptimum) {
  std::uint64_t planned = 0;
  std::uint64_t best_found = 0;
  for (std::uint64_t seed = 0; seed < kInstances; ++seed) {
    const ScatterInstance instance = tiny_measured_scatter(seed);
    const auto optimum = brute_force(instance);
    if (!optimum || instance.lengths.empty()) continue;
    const double best = optimum->objective_ms;
    for (const NamedBound& bound : scatter_bounds(ScatterTable(instance).relaxed())) {
      EXPECT_LE(bound.value, best + slack(best)) << bound.name << ' ' << seed;
    }
    const HeuristicPlans made = expect_bounds_below_and_heuristics_above(instance, *optimum, seed);
    planned += made.fast;
    best_found += made.fast_is_best;
  }
  EXPECT_GT(best_found, planned * 3 / 4) << "of " << planned;
}

// If a group takes less time than in the certificate, the certificate is refused or remains true.
TEST(ScatterMeasured, CertifiedBoundsAreBelowTheOptimum) {
  if (built_backends().empty()) return;
  const MilpBackend backend = built_backends().front();
  std::uint64_t certified = 0;
  std::uint64_t refused = 0;
  double closed = 0;
  double planned = 0;
  for (std::uint64_t seed = 0; seed < kInstances; ++seed) {
    const ScatterInstance instance = tiny_measured_scatter(seed);
    const auto optimum = brute_force(instance);
    if (!optimum || instance.lengths.empty()) continue;
    const double best = optimum->objective_ms;
    ScatterInstance faster = instance;
    for (auto& [degree, grid] : faster.cost.table) {
      for (Ms& ms : grid.ms) ms *= 0.9;
    }
    const auto look = [&](const ScatterCertificate& certificate) {
      refused += refused_or_true(faster, 0.9 * best, certificate, seed);
      for (std::size_t level = 0; level < certificate.levels.size(); ++level) {
        for (int lie = 0; lie < 3; ++lie) {
          ScatterCertificate told = certificate;
          AffineTime& below = told.levels[level].below;
          (lie == 0 ? below.ms : lie == 1 ? below.token_ms : below.square_ms) += 1;
          refused += refused_or_true(instance, best, told, seed);
        }
        ScatterCertificate told = certificate;
        told.levels[level].below.ms = -1;
        EXPECT_FALSE(check_certificate(instance, told).violations.empty()) << seed;
      }
      ScatterInstance formula = instance;
      formula.cost = {.linear_ms = 1, .fixed_ms = 1};
      if (std::ranges::any_of(certificate.levels, [](const CertificateLevel& level) {
            return level.below != AffineTime{};
          })) {
        EXPECT_FALSE(check_certificate(formula, certificate).violations.empty()) << seed;
      }
    };
    const Certified found = expect_certificates_hold(instance, *optimum, backend, 60, seed, look);
    certified += found.certificates;
    if (!(best > 0)) continue;
    closed += found.highest / best;
    planned += 1;
  }
  EXPECT_GT(certified, kInstances / 2);
  EXPECT_GT(refused, kInstances / 4);
  EXPECT_GT(closed, 0.6 * planned);
}

TEST(ScatterMeasured, TheFacadePlansTinySteps) {
  std::uint64_t planned = 0;
  std::uint64_t proven = 0;
  for (std::uint64_t seed = 0; seed < kFew; ++seed) {
    // With rules there may be no plan, which a MILP would prove.
    const ScatterInstance instance = without_rules_on_batches(tiny_measured_scatter(seed, 4, 4));
    const auto optimum = brute_force(instance);
    Budget budget({.node_limit = 2000});
    const Outcome outcome = solve(instance, {.method = "auto"}, budget);
    if (!optimum) {
      ASSERT_EQ(outcome.status, Status::infeasible) << seed << ' ' << outcome.detail;
      continue;
    }
    ++planned;
    ASSERT_TRUE(outcome.objective) << seed;
    EXPECT_NEAR(*outcome.objective, optimum->objective_ms, slack(optimum->objective_ms)) << seed;
    EXPECT_TRUE(outcome.violations.empty()) << seed;
    proven += outcome.status == Status::optimal ? 1 : 0;
  }
  EXPECT_GT(planned, kFew / 3);
  EXPECT_EQ(proven, planned);
}

// Methods that were published as a MILP of sums over sequences are not offered.
TEST(ScatterMeasured, NoMethodThatNeedsSums) {
  const ScatterInstance instance = tiny_measured_scatter(0);
  for (const Method& method : methods(instance)) {
    EXPECT_NE(method.name, "flexsp");
    EXPECT_NE(method.name, "flexsp-chunks");
  }
}

}  // namespace
}  // namespace stowage::scatter_measured_test
