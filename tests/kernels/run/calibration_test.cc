#include "kernels/run/timing/calibration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <random>

#include "instances/numeric/random.h"

namespace stowage::kernels::run_calibration_test {
namespace {

using ::testing::DoubleNear;

constexpr double kMsPerSecond = 1000;

ScatterCost known_cost() {
  ScatterCost cost{.quadratic_ms = 3e-5, .linear_ms = 0.02, .fixed_ms = 0.4};
  cost.all_to_all = {.mib_per_token = 1.0 / 256,
                     .mib_per_ms = {{2, 8}, {4, 2}},
                     .latency_ms = {{2, 0.1}, {4, 0.7}}};
  return cost;
}

// Packs whose times are those of `cost`, every third held out; `noise` is relative, at most.
Calibration packs_of(const ScatterCost& cost, double noise) {
  std::mt19937_64 random(1);
  Calibration calibration;
  for (int k = 0; k < 90; ++k) {
    CalibrationPack pack{.degree = 1 << (k % 3), .held_out = k / 3 % 3 == 2};
    const auto sequences = 1 + draw(random, 20);
    for (std::uint64_t i = 0; i < sequences; ++i) {
      pack.lengths.push_back(static_cast<Tokens>(1 + draw(random, 400)));
    }
    const double off = noise * (2 * static_cast<double>(draw(random, 1001)) / 1000 - 1);
    pack.seconds = predicted_ms(cost, pack) * (1 + off) / kMsPerSecond;
    calibration.packs.push_back(pack);
  }
  return calibration;
}

// Returns x_d, the exchange time per token in ms.
double exchange_ms(const ScatterCost& cost, int degree) {
  return cost.all_to_all.mib_per_token / cost.all_to_all.mib_per_ms.at(degree);
}

TEST(FitCost, FindsTheCostThatMadeTheTimes) {
  Calibration calibration = packs_of(known_cost(), 0);
  fit_cost({}, calibration);
  const ScatterCost& cost = calibration.cost;
  EXPECT_THAT(cost.quadratic_ms, DoubleNear(3e-5, 1e-11));
  EXPECT_THAT(cost.linear_ms, DoubleNear(0.02, 1e-8));
  EXPECT_THAT(cost.fixed_ms, DoubleNear(0.4, 1e-7));
  for (const int degree : {2, 4}) {
    EXPECT_THAT(cost.all_to_all.latency_ms.at(degree),
                DoubleNear(known_cost().all_to_all.latency_ms.at(degree), 1e-6));
    EXPECT_THAT(exchange_ms(cost, degree), DoubleNear(exchange_ms(known_cost(), degree), 1e-8));
  }
  EXPECT_LT(calibration.held_out.p95, 1e-7);
}

TEST(FitCost, HeldOutPacksAreNotFitted) {
  Calibration calibration = packs_of(known_cost(), 0);
  for (CalibrationPack& pack : calibration.packs) {
    if (pack.held_out) pack.seconds *= 2;
  }
  fit_cost({}, calibration);
  EXPECT_LT(calibration.fitted.p95, 1e-7);
  EXPECT_THAT(calibration.held_out.mean, DoubleNear(0.5, 1e-6));
}

TEST(FitCost, NoiseStaysNoise) {
  Calibration calibration = packs_of(known_cost(), 0.04);
  fit_cost({}, calibration);
  EXPECT_LT(calibration.held_out.mean, 0.04);
  EXPECT_GT(calibration.held_out.mean, 0.005);
  EXPECT_GE(calibration.held_out.p95, calibration.held_out.mean);
}

TEST(FitCost, NothingIsNegativeAndABandwidthIsThereAllTheSame) {
  ScatterCost cost = known_cost();
  cost.fixed_ms = 0;
  cost.all_to_all.mib_per_ms = {{2, 1e12}, {4, 1e12}};  // free
  Calibration calibration = packs_of(cost, 0.05);
  fit_cost({}, calibration);
  const ScatterCost& found = calibration.cost;
  EXPECT_GE(found.quadratic_ms, 0);
  EXPECT_GE(found.linear_ms, 0);
  EXPECT_GE(found.fixed_ms, 0);
  for (const int degree : {2, 4}) {
    EXPECT_GE(found.all_to_all.latency_ms.at(degree), 0);
    EXPECT_GT(found.all_to_all.mib_per_ms.at(degree), 0);
  }
}

TEST(FitCost, FindsACostPerSequenceOnlyIfThereIsOne) {
  ScatterCost cost = known_cost();
  Calibration without = packs_of(cost, 0.01);
  fit_cost({}, without);
  EXPECT_EQ(without.cost.sequence_fixed_ms, 0);
  cost.sequence_fixed_ms = 0.2;
  Calibration with = packs_of(cost, 0);
  fit_cost({}, with);
  EXPECT_THAT(with.cost.sequence_fixed_ms, DoubleNear(0.2, 1e-7));
  EXPECT_LT(with.held_out.p95, 1e-7);
}

TEST(Calibrate, MeasuresEveryPackAndFitsAPositiveCost) {
  std::int64_t told = 0;
  const Calibration measured = calibrate(
      {.degrees = {1, 2}, .packs = 12, .least_tokens = 200, .most_tokens = 256, .repeats = 1},
      [&told](std::int64_t done, std::int64_t all) {
        EXPECT_EQ(done, ++told);
        EXPECT_EQ(all, 24);
      },
      nullptr);
  ASSERT_TRUE(measured.complete);
  EXPECT_EQ(told, 24);
  EXPECT_EQ(measured.packs.size(), 24U);
  for (const CalibrationPack& pack : measured.packs) {
    EXPECT_GT(pack.seconds, 0);
    EXPECT_GE(pack.tokens(), 200);
    EXPECT_LE(pack.tokens(), 256);
    EXPECT_GE(pack.squares(), static_cast<double>(pack.tokens()));
  }
  EXPECT_GT(predicted_ms(measured.cost, measured.packs.front()), 0);
  EXPECT_EQ(measured.cost.all_to_all.mib_per_ms.count(2), 1U);
}

TEST(Calibrate, RunsPacksAgainUntilTheirTimesAreKnown) {
  std::int64_t told = 0;
  const Calibration measured = calibrate(
      {.packs = 6, .least_tokens = 60, .most_tokens = 64, .repeats = 5, .least_repeats = 3},
      [&told](std::int64_t done, std::int64_t all) {
        EXPECT_GT(done, told);
        EXPECT_LE(done, all);
        EXPECT_EQ(all, 30);
        told = done;
      },
      nullptr);
  ASSERT_TRUE(measured.complete);
  const int runs = measured.packs.front().runs;
  EXPECT_GE(runs, 3);
  for (const CalibrationPack& pack : measured.packs) {
    EXPECT_EQ(pack.runs, runs);
    EXPECT_TRUE(pack.steady || runs == 5);
  }
  EXPECT_EQ(told, 30);
}

TEST(Calibrate, NoRoundBeginsThatTimeDoesNotAllow) {
  const Calibration measured = calibrate({.packs = 6,
                                          .least_tokens = 60,
                                          .most_tokens = 64,
                                          .repeats = 1000,
                                          .least_repeats = 4,
                                          .seconds = 1e-6},
                                         {}, nullptr);
  ASSERT_TRUE(measured.complete);
  EXPECT_EQ(measured.packs.front().runs, 2);
}

TEST(Calibrate, ThePacksDependOnTheSeedAlone) {
  const CalibrationOptions options{.packs = 6, .most_tokens = 128, .repeats = 1, .seed = 7};
  const Calibration first = calibrate(options, {}, nullptr);
  const Calibration second = calibrate(options, {}, nullptr);
  for (std::size_t i = 0; i < first.packs.size(); ++i) {
    EXPECT_EQ(first.packs[i].lengths, second.packs[i].lengths);
  }
}

TEST(Calibrate, AnEndedBudgetFitsNothing) {
  const std::atomic<bool> stop = true;
  Budget budget({.interrupt = &stop});
  EXPECT_FALSE(calibrate({.packs = 6}, {}, &budget).complete);
}

}  // namespace
}  // namespace stowage::kernels::run_calibration_test
