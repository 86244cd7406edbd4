// Certificates of the step bound: each passes the checker, which shares no code with the solver,
// and none claims more than the optimum of brute force.
#include "solvers/scatter/bounds/step_lp_bound.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>
#include <vector>

#include "heuristics/scatter/registry.h"
#include "instances/scatter/presets.h"
#include "instances/violation.h"
#include "solvers/milp/solver.h"
#include "tests/long_run.h"
#include "tests/oracles/scatter/brute_force.h"
#include "tests/tiny_scatter.h"

namespace stowage::scatter_step_bound_test {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t kInstances = 200;
#else
const auto kInstances = static_cast<std::uint64_t>(in_long_run(400, 5000));
#endif
constexpr std::uint64_t kShards = 8;  // tests that can run in parallel

// Returns every backend, and nullopt for none.
std::vector<std::optional<MilpBackend>> lp_solvers() {
  std::vector<std::optional<MilpBackend>> all{std::nullopt};
  for (const MilpBackend backend : built_backends()) all.emplace_back(backend);
  return all;
}

class StepBoundOnTiny
    : public testing::TestWithParam<std::tuple<std::optional<MilpBackend>, std::uint64_t>> {};

TEST_P(StepBoundOnTiny, IsCertifiedAndAtMostTheOptimum) {
  const auto [backend, shard] = GetParam();
  for (std::uint64_t seed = shard; seed < kInstances; seed += kShards) {
    SCOPED_TRACE(seed);
    const ScatterInstance instance = tiny_scatter(seed);
    const auto plan = brute_force(instance);
    if (!plan || instance.lengths.empty()) continue;
    // A known plan slightly above the optimum, so that the search neither stops early nor relies on
    // the optimum.
    Budget budget({.node_limit = 20});
    Ms bound = 0;
    ScatterStepBound search(instance, {.backend = backend}, plan->objective_ms * 1.1,
                            [&](const ScatterCertificate& certificate) {
                              const CertificateCheck check =
                                  check_certificate(instance, certificate);
                              for (const Violation& v : check.violations) {
                                ADD_FAILURE() << to_string(v);
                              }
                              EXPECT_EQ(check.bound_ms, certificate.bound_ms);
                              EXPECT_GT(certificate.bound_ms, bound);
                              bound = certificate.bound_ms;
                            });
    search.improve(budget);
    ASSERT_LE(bound, plan->objective_ms * (1 + 1e-9));
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, StepBoundOnTiny,
                         testing::Combine(testing::ValuesIn(lp_solvers()),
                                          testing::Range(std::uint64_t{0}, kShards)));

// Degrees without groups in the LP get prices all the same, so the proof covers plans that use
// them.
TEST(StepBound, OfFewDegreesIsCertifiedForAllDegrees) {
  if (built_backends().empty()) GTEST_SKIP() << "no LP backend";
  ScatterInstance instance = *scatter_preset({.model = "llama3-8b",
                                              .devices = 24,
                                              .limit_tokens = 48000,
                                              .degrees = DegreeSet::any,
                                              .machine = "h100"});
  for (Tokens i = 1; i <= 40; ++i) instance.lengths.push_back(300 * i + (i % 9 == 0 ? 30000 : 0));
  const ScatterTable table(instance);
  std::optional<ScatterPlan> plan;
  for (const ScatterHeuristic& heuristic : heuristics(instance)) {
    if (heuristic.name == "fast") plan = heuristic.run(instance, table, 0, Budget());
  }
  ASSERT_TRUE(plan);
  const Ms area = table.total_area() / table.devices();
  Ms bound = 0;
  ScatterStepBound search(instance, {.backend = built_backends().front(), .few_degrees = true},
                          plan->objective_ms, [&](const ScatterCertificate& certificate) {
                            const CertificateCheck check = check_certificate(instance, certificate);
                            for (const Violation& v : check.violations) {
                              ADD_FAILURE() << to_string(v);
                            }
                            bound = check.bound_ms;
                          });
  Budget budget({.node_limit = 30});
  search.improve(budget);
  EXPECT_GT(bound, area);
  EXPECT_LE(bound, plan->objective_ms * (1 + 1e-9));
  EXPECT_EQ(bound, search.bound());
}

TEST(StepBound, EndsWhereTheCallerHasEnough) {
  int ended = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const ScatterInstance instance = tiny_scatter(seed);
    const auto plan = brute_force(instance);
    if (!plan || instance.lengths.empty()) continue;
    ScatterStepBound search(instance, {}, plan->objective_ms * 1.1,
                            [](const ScatterCertificate&) {});
    int calls = 0;
    Budget budget({.node_limit = 100});
    const bool more = search.improve(budget, [&](Ms bound) {
      EXPECT_EQ(bound, search.bound());
      return ++calls == 2;
    });
    ASSERT_LE(calls, 2) << seed;
    EXPECT_TRUE(calls < 2 || more) << seed;
    ended += calls == 2 ? 1 : 0;
  }
  EXPECT_GE(ended, 5);
}

// The clock advances at every reading, for instance at every pivot, so the cuts are the same every
// time.
TEST(StepBound, GoesOnWhereALimitCutItShort) {
  if (built_backends().empty()) GTEST_SKIP() << "no LP backend";
  int compared = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const ScatterInstance instance = tiny_scatter(seed);
    const auto plan = brute_force(instance);
    if (!plan || instance.lengths.empty()) continue;
    const auto search = [&] {
      return ScatterStepBound(instance, {.backend = built_backends().front()},
                              plan->objective_ms * 1.1, [](const ScatterCertificate&) {});
    };
    ScatterStepBound whole = search();
    Budget once({.node_limit = 2000});
    if (whole.improve(once)) continue;  // not finished
    for (const double first : {1e-6, 4e-6, 13e-6}) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", first cut after " << first);
      ScatterStepBound parts = search();
      int cuts = 0;
      double seconds = first;
      for (bool more = true; more && cuts < 1000; seconds = seconds * 1.02 + 1e-7) {
        Budget slice({.time_limit_s = seconds, .clock = BudgetClock::looks});
        more = parts.improve(slice);
        cuts += more ? 1 : 0;
      }
      EXPECT_GE(cuts, 2);
      EXPECT_LT(cuts, 1000) << "has not ended";
      // The trees may differ, since an interrupted LP may end in another of its solutions, but the
      // bound is as good.
      EXPECT_GE(parts.bound(), whole.bound() * (1 - 5e-3));
      ++compared;
    }
  }
  EXPECT_GT(compared, 30);
}

}  // namespace
}  // namespace stowage::scatter_step_bound_test
