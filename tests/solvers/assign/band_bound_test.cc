// Bounds by case distinctions on the longest sequence: no plan is below them, and they close gaps
// that row patterns leave for schemes with few pipelines.
#include "solvers/assign/bounds/band_bound.h"

#include <gtest/gtest.h>

#include "instances/assign/certificate.h"
#include "instances/assign/verify/verify.h"
#include "solvers/assign/bounds/pattern_bound.h"
#include "tests/instances/draw.h"
#include "tests/long_run.h"
#include "tests/oracles/assign/brute_force.h"
#include "tests/tiny_assign.h"

namespace stowage::assign_band_bound_test {
namespace {

KnownProofs proofs(const AssignInstance& instance, const AssignTable& table, Ms upper,
                   const PatternBoundOptions& options) {
  Budget budget;
  PatternBound found = pattern_bound(instance, table, upper, options, budget);
  if (!found.certificate) return {};
  return {std::move(found.certificate->strategies), std::move(found.strategies)};
}

TEST(AssignBands, BoundNoMoreThanTheOptimum) {
  int raised = 0;
  const auto steps = static_cast<std::uint64_t>(in_long_run(250, 3000));
  for (std::uint64_t seed = 0; seed < steps; ++seed) {
    const AssignInstance instance = tiny_assign(seed, 8);
    if (instance.lengths.empty() || !unplaceable_sequences(instance).empty()) continue;
    const auto optimum = brute_force(instance);
    if (!optimum || !(optimum->objective_ms > 0)) continue;
    const AssignTable table(instance);
    const Ms upper = 1.1 * optimum->objective_ms;
    const KnownProofs known = proofs(instance, table, upper, {.rounds = 0});
    if (known.times.empty()) continue;
    Budget budget;
    const BandBound found = band_bound(instance, table, upper, known, {}, budget);
    if (!found.certificate) continue;
    const AssignCertificateCheck check = check_certificate(instance, *found.certificate);
    EXPECT_TRUE(check.violations.empty()) << seed << ' ' << to_string(check.violations.front());
    EXPECT_LE(check.bound_ms, optimum->objective_ms * (1 + 1e-9)) << seed;
    raised += check.bound_ms > *std::ranges::min_element(known.times) * (1 + 1e-6);
  }
  EXPECT_GT(raised, 20);
}

// Two pipelines of three stages and one of one stage, and lengths of all sizes: in the optimum one
// pipeline has long sequences and their bubble.
AssignInstance pipelines(std::uint64_t seed) {
  Draw draw(seed);
  AssignInstance instance{.name = "pipelines", .devices = 64};
  instance.schemes = {{.name = "flat",
                       .tp = 16,
                       .quadratic_ms = 1.4e-6,
                       .linear_ms = 0.1,
                       .fixed_ms = 140,
                       .max_tokens = 40'000},
                      {.name = "deep",
                       .tp = 8,
                       .pp = 3,
                       .quadratic_ms = 7e-7,
                       .linear_ms = 0.05,
                       .fixed_ms = 40,
                       .max_tokens = 26'000}};
  instance.strategies = {{"mixed", {1, 2}}};
  for (int k = 0; k < 80; ++k) {
    const auto size = static_cast<std::uint64_t>(k % 8 == 0 ? 24'000 : 4'000);
    instance.lengths.push_back(100 + static_cast<Tokens>(draw.below(size)));
  }
  return instance;
}

TEST(AssignBands, RaiseWhatPatternsProveOfFewPipelines) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const AssignInstance instance = pipelines(seed);
    const AssignTable table(instance);
    const KnownProofs known = proofs(instance, table, 1e6, {});
    ASSERT_FALSE(known.times.empty());
    Budget budget;
    const BandBound found = band_bound(instance, table, 1e6, known, {}, budget);
    ASSERT_TRUE(found.certificate) << seed;
    EXPECT_TRUE(check_certificate(instance, *found.certificate).violations.empty()) << seed;
    EXPECT_GT(found.certificate->bound_ms, known.times.front() * 1.002) << seed;
    Budget again;
    EXPECT_EQ(found.certificate, band_bound(instance, table, 1e6, known, {}, again).certificate);
  }
}

TEST(AssignBands, NothingWithoutTime) {
  const AssignInstance instance = pipelines(1);
  const AssignTable table(instance);
  const KnownProofs known = proofs(instance, table, 1e6, {.rounds = 0});
  Budget none({.time_limit_s = 0});
  EXPECT_FALSE(band_bound(instance, table, 1e6, known, {}, none).certificate);
}

}  // namespace
}  // namespace stowage::assign_band_bound_test
