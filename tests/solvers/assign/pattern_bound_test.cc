// The pattern bound: every certificate passes the checker, which shares no code with it, and none
// claims more than the optimum of brute force; and its distance from plans of larger steps.
#include "solvers/assign/bounds/pattern_bound.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <optional>
#include <random>
#include <sstream>
#include <tuple>
#include <vector>

#include "formulations/assign/bounds.h"
#include "heuristics/assign/construct/multistart.h"
#include "instances/assign/json/json.h"
#include "instances/families.h"
#include "instances/numeric/random.h"
#include "solvers/solve.h"
#include "tests/long_run.h"
#include "tests/oracles/assign/brute_force.h"
#include "tests/tiny_assign.h"

namespace stowage::assign_pattern_bound_test {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t kInstances = 200;
#else
const auto kInstances = static_cast<std::uint64_t>(in_long_run(400, 3000));
#endif
constexpr std::uint64_t kShards = 4;  // tests that can run in parallel

// Returns every backend, and nullopt for none.
std::vector<std::optional<MilpBackend>> lp_solvers() {
  std::vector<std::optional<MilpBackend>> all{std::nullopt};
  for (const MilpBackend backend : built_backends()) all.emplace_back(backend);
  return all;
}

class PatternBoundOnTiny
    : public testing::TestWithParam<std::tuple<std::optional<MilpBackend>, std::uint64_t>> {};

TEST_P(PatternBoundOnTiny, IsCertifiedAndAtMostTheOptimum) {
  const auto [backend, shard] = GetParam();
  int better = 0;
  for (std::uint64_t seed = shard; seed < kInstances; seed += kShards) {
    SCOPED_TRACE(seed);
    const AssignInstance instance = tiny_assign(seed);
    const auto optimum = brute_force(instance);
    if (!optimum || instance.lengths.empty()) continue;
    const AssignTable table(instance);
    // Also for known plans far above the optimum, which do not restrict the bound.
    for (const double factor : {1.0, 1.4}) {
      Budget budget;
      const PatternBound found = pattern_bound(instance, table, optimum->objective_ms * factor,
                                               {.backend = backend}, budget);
      if (!found.certificate) continue;
      const AssignCertificateCheck check = check_certificate(instance, *found.certificate);
      for (const Violation& v : check.violations) ADD_FAILURE() << to_string(v);
      EXPECT_EQ(check.bound_ms, found.certificate->bound_ms);
      EXPECT_LE(check.bound_ms, optimum->objective_ms * (1 + 1e-9));
      better += check.bound_ms > assign_bounds(table).back().value * 1.0001;
    }
  }
  EXPECT_GT(better, static_cast<int>(kInstances / kShards / 20));
}

INSTANTIATE_TEST_SUITE_P(Backends, PatternBoundOnTiny,
                         testing::Combine(testing::ValuesIn(lp_solvers()),
                                          testing::Range(std::uint64_t{0}, kShards)),
                         [](const auto& shard) {
                           const auto backend = std::get<0>(shard.param);
                           return (backend ? std::string(name(*backend)) : "none") + "_" +
                                  std::to_string(std::get<1>(shard.param));
                         });

// Returns the gap between a plan and a bound that are both found in milliseconds.
double fast_gap(const AssignInstance& instance) {
  Budget budget;
  const Outcome outcome = solve(instance, {.method = "fast"}, budget);
  EXPECT_TRUE(outcome.plan) << instance.name;
  if (outcome.certificate) {
    const auto& certificate = std::get<AssignCertificate>(outcome.certificate->any());
    EXPECT_TRUE(check_certificate(instance, certificate).violations.empty()) << instance.name;
  }
  return outcome.gap().value_or(1);
}

TEST(PatternBound, ClosesBundledSteps) {
  std::vector<double> gaps;
  for (const auto& entry : std::filesystem::directory_iterator(
           std::filesystem::path(STOWAGE_SOURCE_DIR) / "instances/data/assign/real")) {
    std::ifstream in(entry.path());
    std::ostringstream text;
    text << in.rdbuf();
    const Result<AssignInstance> instance = read_assign_instance(text.str());
    ASSERT_TRUE(instance) << entry.path();
    gaps.push_back(fast_gap(*instance));
  }
  std::ranges::sort(gaps);
  ASSERT_GE(gaps.size(), 12U);
  EXPECT_LE(gaps[gaps.size() / 2], 0.005);
  EXPECT_LE(gaps.back(), 0.02);
}

// With one scheme and one stage the remaining problem is to balance and to save rows.
TEST(PatternBound, ClosesPlainBalancing) {
  for (const double fixed : {0.0, 20.0}) {
    for (const int ranks : {8, 64}) {
      for (const int count : {2048, 16384}) {
        AssignInstance instance{.name = "plain", .devices = ranks};
        instance.schemes = {{.name = "1x1",
                             .quadratic_ms = 1.4e-6,
                             .linear_ms = 0.1,
                             .fixed_ms = fixed,
                             .max_tokens = 43520}};
        instance.strategies = {{"all", {ranks}}};
        std::mt19937_64 random(5);
        for (int i = 0; i < count; ++i) {
          double sum = -6;  // of twelve draws: nearly normal
          for (int k = 0; k < 12; ++k) sum += draw_unit(random);
          const double length = std::clamp(std::exp(6.5 + sum), 1.0, 32768.0);
          instance.lengths.push_back(static_cast<Tokens>(length));
        }
        EXPECT_LE(fast_gap(instance), 0.001) << fixed << ' ' << ranks << ' ' << count;
      }
    }
  }
}

}  // namespace
}  // namespace stowage::assign_pattern_bound_test
