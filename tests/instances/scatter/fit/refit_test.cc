// Costs adapted to measured steps.
#include "instances/scatter/fit/refit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/instances/scatter/fit/rows.h"

namespace stowage::scatter_fit_refit_test {
namespace {

ScatterInstance old_cluster() {
  return {.cluster = {.devices = 8, .memory_mib = 40000, .degrees = {1, 2, 4, 8}},
          .model = {.states_mib = 2000, .activation_mib_per_token = 1},
          .cost = {.quadratic_ms = 5e-6,
                   .linear_ms = 0.05,
                   .fixed_ms = 12,
                   .all_to_all = {.mib_per_token = 2,
                                  .mib_per_ms = {{2, 50}, {4, 40}, {8, 25}},
                                  .latency_ms = {{2, 9}, {4, 14}, {8, 30}}}}};
}

// Returns steps of two micro-batches of two groups each, of degrees 1, 2 and 4, with the times of
// `truth`.
std::vector<TimedStep> steps_of(const ScatterInstance& truth, int count, double noise,
                                std::mt19937_64& random) {
  ScatterInstance some = truth;
  some.cluster.degrees = {1, 2, 4};
  std::vector<TimedStep> steps(static_cast<std::size_t>(count));
  for (TimedStep& step : steps) {
    std::vector<TimedRow> rows = rows_of(some, 2, 20000, 0, random);
    std::vector<Ms> longest;
    for (std::size_t batch = 0; batch < 2; ++batch) {
      const std::vector<TimedRow> groups = {rows[draw(random, 6)], rows[draw(random, 6)]};
      longest.push_back(std::max(true_ms(truth, groups[0]), true_ms(truth, groups[1])));
      step.micro_batches.push_back(groups);
    }
    step.ms = step_ms(truth, longest[0] + longest[1], std::max(longest[0], longest[1]));
    step.ms *= 1 + noise * draw_normal(random);
  }
  return steps;
}

Refit refitted(const ScatterInstance& old, const std::vector<TimedStep>& steps) {
  const Result<Refit> found = refit_cost(old, steps);
  EXPECT_TRUE(found) << to_string(found.errors().front());
  return *found;
}

TEST(Refit, AFewStepsMoveAllByOneFactor) {
  std::mt19937_64 random(1);
  const ScatterInstance old = old_cluster();
  ScatterInstance slower = old;
  slower.cost.quadratic_ms *= 1.2;
  slower.cost.linear_ms *= 1.2;
  slower.cost.fixed_ms *= 1.2;
  for (auto& [degree, rate] : slower.cost.all_to_all.mib_per_ms) rate /= 1.2;
  for (auto& [degree, ms] : slower.cost.all_to_all.latency_ms) ms *= 1.2;
  const Refit found = refitted(old, steps_of(slower, 5, 0.005, random));
  EXPECT_NEAR(found.factor, 1.2, 0.01);
  EXPECT_TRUE(found.drifted);
  EXPECT_NEAR(found.cost.linear_ms / 0.06, 1, 0.02);
  // Also for degrees that no step used.
  EXPECT_NEAR(found.cost.all_to_all.latency_ms.at(8) / 36, 1, 0.02);
  EXPECT_NEAR(found.cost.all_to_all.mib_per_ms.at(8) * 1.2 / 25, 1, 0.02);
  EXPECT_NEAR(found.old_mean_error, 0.2, 0.01);
  EXPECT_LT(found.mean_error, 0.02);
}

TEST(Refit, WithoutDriftNothingMuchMoves) {
  std::mt19937_64 random(2);
  const ScatterInstance old = old_cluster();
  int drifted = 0;
  double noise = 0;
  for (int round = 0; round < 20; ++round) {
    const Refit found = refitted(old, steps_of(old, 40, 0.02, random));
    drifted += found.drifted ? 1 : 0;
    EXPECT_NEAR(found.cost.linear_ms / 0.05, 1, 0.05);
    noise += found.noise / 20;
  }
  EXPECT_NEAR(noise, 0.02, 0.005);
  EXPECT_LE(drifted, 4);
}

TEST(Refit, ManyStepsShowWhichCoefficientMoved) {
  std::mt19937_64 random(3);
  for (const int stages : {1, 4}) {
    ScatterInstance old = old_cluster();
    old.pipeline_stages = stages;
    ScatterInstance truth = old;
    truth.cost.all_to_all.mib_per_ms[4] /= 2;
    std::vector<TimedStep> steps = steps_of(truth, 400, 0.01, random);
    for (std::size_t i = 0; i < 20; ++i) steps[i * 19].ms *= 3;  // another program ran at that time
    const Refit found = refitted(old, steps);
    EXPECT_NEAR(found.cost.all_to_all.mib_per_ms.at(4) / 20, 1, 0.05) << stages;
    EXPECT_NEAR(found.cost.all_to_all.mib_per_ms.at(2) / 50, 1, 0.05) << stages;
    EXPECT_NEAR(found.cost.linear_ms / 0.05, 1, 0.03) << stages;
    EXPECT_NEAR(found.noise, 0.01, 0.003) << stages;
  }
}

TEST(Refit, ACostWithoutExchangesGetsThemForAllDegrees) {
  std::mt19937_64 random(4);
  ScatterInstance old = old_cluster();
  const std::vector<TimedStep> steps = steps_of(old, 100, 0.01, random);
  old.cost.all_to_all = {};
  const Refit found = refitted(old, steps);
  EXPECT_LT(found.mean_error, found.old_mean_error);
  for (const int degree : {2, 4, 8}) {
    EXPECT_EQ(found.cost.all_to_all.mib_per_ms.count(degree), 1U);
  }
}

TEST(Refit, RefusesStepsThatBreakRules) {
  const auto errors_of = [](const std::vector<TimedStep>& steps) {
    std::string said;
    if (const auto found = refit_cost(old_cluster(), steps); !found) {
      for (const InputError& error : found.errors()) said += to_string(error) + '\n';
    }
    return said;
  };
  EXPECT_EQ(errors_of({}), "E362 /measured: must be at least one step, are 0\n");
  EXPECT_EQ(errors_of({{.micro_batches = {}, .ms = 1}, {.micro_batches = {{}}, .ms = 1}}),
            "E362 /measured/0/micro_batches: must be at least one, are 0\n"
            "E362 /measured/1/groups: must be at least one, are 0\n");
  EXPECT_EQ(errors_of({{.micro_batches = {{{.degree = 2, .lengths = {0}}}}, .ms = -1}}),
            "E206 /measured/0/ms: must be a number above 0, at most 2^53, is -1\n"
            "E205 /measured/0/lengths: must be one length or more, each at least 1, of at most "
            "2^52 tokens together\n");
}

}  // namespace
}  // namespace stowage::scatter_fit_refit_test
