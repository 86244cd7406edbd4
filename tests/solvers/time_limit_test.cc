// A limit that is over leaves every method about as much work as reading the instance is: work that
// grows with the step and no faster. A loop that looks at too many pairs, or at no clock, shows
// here however fast the machine is.
#include <gtest/gtest.h>

#include <ctime>

#include "instances/assign_generate.h"
#include "instances/generate.h"
#include "instances/layout_generate.h"
#include "instances/verify.h"
#include "solvers/solve.h"

namespace stowage {
namespace {

constexpr std::int64_t kSmall = 10'000;
constexpr std::int64_t kLarge = 160'000;  // sixteen times as many: 256 times the pairs
constexpr double kMostGrowth = 80;
constexpr double kLeast = 2e-3;  // CPU seconds: what a clock tells apart

Instance scatter_of(std::int64_t sequences) {
  return generate_scatter({.preset = {.model = "gpt-7b"},
                           .source = {.kind = LengthSource::Kind::uniform, .most = 8192},
                           .count = sequences})
      ->instance;
}

Instance assign_of(std::int64_t sequences) {
  return generate_assign({.source = {.kind = LengthSource::Kind::lognormal, .mu = 7, .sigma = 1.4},
                          .tokens = 2500 * sequences})
      ->instance;
}

Instance layout_of(std::int64_t buffers) {
  return generate_layout(
             {.kind = LayoutGenerator::Kind::short_lived, .buffers = buffers, .steps = 2 * buffers})
      ->instance;
}

// CPU seconds of a solve whose limit is over before it begins, the less of two.
double cpu_seconds(const Instance& instance, const std::string& method) {
  double least = 0;
  for (int k = 0; k < 2; ++k) {
    const std::clock_t begin = std::clock();
    Budget none({.time_limit_s = 0});
    const Outcome outcome = solve(instance, {.method = method}, none);
    const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    least = k == 0 ? seconds : std::min(least, seconds);
    if (method == "auto" || method == "fast") {
      EXPECT_TRUE(outcome.plan) << outcome.detail;
      EXPECT_EQ(outcome.stopped_by, StoppedBy::time_limit);
    }
  }
  return least;
}

struct Family {
  const char* name;
  Instance (*make)(std::int64_t);
};

class NoTime : public testing::TestWithParam<Family> {};

TEST_P(NoTime, EveryMethodEndsInLinearTime) {
  const Instance small = GetParam().make(kSmall);
  const Instance large = GetParam().make(kLarge);
  for (const Method& method : methods(small)) {
    const double less = std::max(kLeast, cpu_seconds(small, method.name));
    EXPECT_LT(cpu_seconds(large, method.name), kMostGrowth * less) << method.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Families, NoTime,
                         testing::Values(Family{"scatter", scatter_of}, Family{"assign", assign_of},
                                         Family{"layout", layout_of}),
                         [](const auto& family) { return std::string(family.param.name); });

}  // namespace
}  // namespace stowage
