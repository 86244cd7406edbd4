// With a limit of 0 every method does about as much work as reading the instance: work that grows
// linearly with the step. A loop over too many pairs, or one that does not check the clock, fails
// this test on every machine.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <ctime>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "instances/assign/generate/generate.h"
#include "instances/assign/verify/verify.h"
#include "instances/check.h"
#include "instances/families.h"
#include "instances/layout/generate/generate.h"
#include "instances/order/generate/generate.h"
#include "instances/scatter/generate/generate.h"
#include "instances/strategy/generate/generate.h"
#include "solvers/solve.h"
#include "tests/long_run.h"

namespace stowage::time_limit_test {
namespace {

const std::int64_t kSmall = in_long_run(1500, 10'000);
const std::int64_t kLarge = 16 * kSmall;  // sixteen times as many: 256 times the pairs
constexpr double kMaxGrowth = 80;
constexpr double kLeast = 2e-3;  // CPU seconds: the resolution of the clock

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

Instance order_of(std::int64_t operators) {
  return *generate_order({.kind = OrderGenerator::Kind::layered, .operators = operators});
}

Instance strategy_of(std::int64_t sequences) {
  return *generate_strategy({.nodes = 1},
                            std::vector<Tokens>(static_cast<std::size_t>(sequences), 4096));
}

// Returns the CPU seconds of a solve with a limit of 0, the minimum of two runs.
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
    EXPECT_LT(cpu_seconds(large, method.name), kMaxGrowth * less) << method.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Families, NoTime,
                         testing::Values(Family{"scatter", scatter_of}, Family{"assign", assign_of},
                                         Family{"layout", layout_of}, Family{"order", order_of},
                                         Family{"strategy", strategy_of}),
                         [](const auto& family) { return std::string(family.param.name); });

struct Timed {
  double seconds = 0;  // CPU
  Outcome outcome;
};

// Runs a solve that may not begin, for any kind of limit.
Timed solved_once_without_time(const AssignInstance& instance, const std::string& method,
                               const Budget::Limits& limits) {
  Timed timed;
  const std::clock_t begin = std::clock();
  Budget none(limits);
  timed.outcome = solve(instance, {.method = method}, none);
  timed.seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  EXPECT_TRUE(timed.outcome.plan) << method << ": " << timed.outcome.detail;
  EXPECT_TRUE(timed.outcome.violations.empty()) << method;
  return timed;
}

// Returns the minimum of three runs.
Timed solved_without_time(const AssignInstance& instance, const std::string& method,
                          const Budget::Limits& limits) {
  Timed least = solved_once_without_time(instance, method, limits);
  for (int k = 0; k < 2; ++k) {
    Timed timed = solved_once_without_time(instance, method, limits);
    if (timed.seconds < least.seconds) least = std::move(timed);
  }
  return least;
}

// Even with a limit of 0 a plan must be verified, so this time is the unit of the limits below.
double seconds_to_verify(const AssignInstance& instance, const AssignPlan& plan) {
  const std::clock_t begin = std::clock();
  EXPECT_TRUE(verify(instance, plan).empty());
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

AssignInstance deep_pipeline() {
  return {.name = "deep",
          .devices = 1024,
          .schemes = {{.name = "1x1024",
                       .pp = 1024,
                       .quadratic_ms = 1e-9,
                       .linear_ms = 0.001,
                       .fixed_ms = 0.001,
                       .max_tokens = 100'000}},
          .strategies = {{.name = "one", .replicas = {1}}}};
}

AssignInstance many_rows(int rows) {
  AssignInstance instance = deep_pipeline();
  for (int k = 0; k < rows; ++k) instance.lengths.push_back(100'000 - k % 3);
  return instance;
}

AssignInstance many_chunks(int whole) {
  AssignInstance instance = deep_pipeline();
  instance.constraints.chunks = ChunkRule{.size = 10, .retained = 20'000};
  instance.lengths = {25'000, 10'000, 3'000};
  for (int k = 0; k < whole; ++k) instance.lengths.push_back(10 - k % 3);
  return instance;
}

// Rows through a thousand stages: one simulation, not one per possible order. A method that
// simulates once takes 2.3 verifications including its own, one that simulates twice 3.3. Both
// times are measured alternately, and the effect of other load decreases with the number of rounds.
constexpr double kMaxVerifications = 2.8;
constexpr int kMaxRounds = 12;
TEST(NoTimeAssign, DeepPipelinesAreSimulatedOnce) {
  for (const AssignInstance& instance : {many_rows(2000), many_chunks(200)}) {
    for (const Method& method : methods(instance)) {
      double solved = std::numeric_limits<double>::infinity();
      double verified = solved;
      for (int round = 0; round < kMaxRounds; ++round) {
        const Timed timed = solved_once_without_time(instance, method.name, {.time_limit_s = 0});
        ASSERT_TRUE(timed.outcome.plan);
        const auto& plan = std::get<AssignPlan>(*timed.outcome.plan);
        solved = std::min(solved, timed.seconds);
        verified = std::min(verified, seconds_to_verify(instance, plan));
        if (round > 0 && solved < kMaxVerifications * std::max(kLeast, verified)) break;
      }
      EXPECT_LT(solved, kMaxVerifications * std::max(kLeast, verified)) << method.name;
    }
  }
}

// Returns strategies of many replicas of many schemes, all of which can be planned.
AssignInstance strategies_of(int count) {
  constexpr int kSchemes = 300;
  AssignInstance instance{.name = "many", .devices = 10 * kSchemes};
  for (int g = 0; g < kSchemes; ++g) {
    instance.schemes.push_back({.name = "g" + std::to_string(g),
                                .quadratic_ms = 0.001,
                                .linear_ms = 0.1,
                                .fixed_ms = 0.001,
                                .max_tokens = 100 + g});
  }
  for (int k = 0; k < count; ++k) {
    std::vector<int> replicas(kSchemes, 10);
    replicas[static_cast<std::size_t>(k % kSchemes)] = 9 - k / kSchemes;
    instance.strategies.push_back({.name = "s" + std::to_string(k), .replicas = replicas});
  }
  for (int k = 0; k < 200; ++k) instance.lengths.push_back(50 + k % 50);
  return instance;
}

// solve() checks every number of the instance before it plans.
double seconds_to_check(const AssignInstance& instance) {
  double least = 0;
  for (int k = 0; k < 3; ++k) {
    const std::clock_t begin = std::clock();
    EXPECT_TRUE(check(instance).empty());
    const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    least = k == 0 ? seconds : std::min(least, seconds);
  }
  return least;
}

TEST(NoTimeAssign, OneStrategyWillDo) {
  const AssignInstance few = strategies_of(20);
  const AssignInstance many = strategies_of(640);
  const double looked = 1.5 * seconds_to_check(many);
  for (const Method& method : methods(few)) {
    const double less = solved_without_time(few, method.name, {.time_limit_s = 0}).seconds;
    const double more = solved_without_time(many, method.name, {.time_limit_s = 0}).seconds;
    EXPECT_LT(more - looked, 6 * std::max(kLeast, less)) << method.name;
  }
}

// Like Ctrl-C before the work begins, without any limit.
TEST(NoTimeAssign, AnInterruptFromTheStartIsALimitOfNone) {
  const std::atomic<bool> interrupt = true;
  for (const AssignInstance& instance : {many_rows(600), many_chunks(50), strategies_of(100)}) {
    for (const Method& method : methods(instance)) {
      const Timed timed = solved_without_time(instance, method.name, {.interrupt = &interrupt});
      ASSERT_TRUE(timed.outcome.plan);
      EXPECT_TRUE(verify(instance, std::get<AssignPlan>(*timed.outcome.plan)).empty());
      EXPECT_EQ(timed.outcome.stopped_by, timed.outcome.status == Status::optimal
                                              ? StoppedBy::proof
                                              : StoppedBy::interrupted);
      const double limited =
          solved_without_time(instance, method.name, {.time_limit_s = 0}).seconds;
      EXPECT_LT(timed.seconds, 3 * std::max(kLeast, limited)) << method.name;
    }
  }
}

}  // namespace
}  // namespace stowage::time_limit_test
