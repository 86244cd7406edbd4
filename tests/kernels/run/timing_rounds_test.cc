// Times of works that run in rounds: they are recovered in spite of paces, noise and a few
// outliers.
#include "kernels/run/timing/timing_rounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "instances/numeric/random.h"
#include "tests/instances/regression/noise.h"

namespace stowage::kernels::run_rounds_test {
namespace {

using ::testing::DoubleNear;

constexpr std::size_t kWorks = 20;

double true_seconds(std::size_t work) { return 0.001 * std::pow(1.3, static_cast<double>(work)); }

// Rounds of all works in a random order, at a pace that drifts by a third over `period` runs, runs
// that are off by 1 %, and every tenth run at `wild` times its time.
TimingRounds measured(int rounds, double wild, double period) {
  std::mt19937_64 random(3);
  TimingRounds made(kWorks);
  std::vector<std::size_t> order(kWorks);
  std::iota(order.begin(), order.end(), std::size_t{0});
  int run = 0;
  for (int r = 0; r < rounds; ++r) {
    for (std::size_t i = kWorks; i > 1; --i) std::swap(order[i - 1], order[draw(random, i)]);
    for (const std::size_t w : order) {
      const double pace = 1 + 0.33 * std::sin(2 * std::numbers::pi * run++ / period);
      const double off = 1 + 0.01 * draw_normal(random);
      made.add(w, true_seconds(w) * pace * off * (draw(random, 10) == 0 ? wild : 1));
    }
  }
  return made;
}

// All times of a machine have the same relative error, since its usual pace is unknown.
void expect_found(const TimingRounds& rounds, double within) {
  const std::vector<RoundTime> times = rounds.times();
  const double share = times[0].seconds / true_seconds(0);
  for (std::size_t w = 0; w < kWorks; ++w) {
    EXPECT_THAT(times[w].seconds / true_seconds(w) / share, DoubleNear(1, within)) << w;
    EXPECT_LT(times[w].error, 0.01) << w;
    EXPECT_GT(times[w].error, 0.0005) << w;
  }
}

TEST(TimingRounds, PacesAndWildRunsDoNotCount) {
  for (const double period : {180.0, 1000.0}) {
    expect_found(measured(24, 1, period), 0.015);
    expect_found(measured(24, 3, period), 0.02);    // disturbed
    expect_found(measured(24, 0.7, period), 0.02);  // faster than usual
  }
}

// A pace that drifts within a round is no part of the times, though each work has few runs.
TEST(TimingRounds, FewRoundsAtADriftingPaceAreEnough) {
  const std::vector<RoundTime> times = measured(5, 1, 60).times();
  const double share = times[0].seconds / true_seconds(0);
  for (std::size_t w = 0; w < kWorks; ++w) {
    EXPECT_THAT(times[w].seconds / true_seconds(w) / share, DoubleNear(1, 0.1)) << w;
  }
}

TEST(TimingRounds, WorksMayLackTheLastRound) {
  TimingRounds rounds(3);
  for (int r = 0; r < 5; ++r) {
    for (std::size_t k = 0; k < 3; ++k) {
      const std::size_t w = r % 2 == 0 ? k : 2 - k;
      if (r < 4 || w == 0) rounds.add(w, static_cast<double>(w + 1) * (1 + 0.1 * r));
    }
  }
  const std::vector<RoundTime> times = rounds.times();
  EXPECT_THAT(times[1].seconds / times[0].seconds, DoubleNear(2, 0.05));
  EXPECT_THAT(times[2].seconds / times[0].seconds, DoubleNear(3, 0.1));
}

TEST(TimingRounds, FewRunsSayLittleAndNoneNothing) {
  TimingRounds rounds(2);
  EXPECT_TRUE(std::isinf(rounds.times()[0].seconds));
  rounds.add(0, 2);
  rounds.add(0, 2);
  EXPECT_THAT(rounds.times()[0].seconds, DoubleNear(2, 1e-12));
  EXPECT_TRUE(std::isinf(rounds.times()[0].error));
  EXPECT_TRUE(std::isinf(rounds.times()[1].seconds));
}

}  // namespace
}  // namespace stowage::kernels::run_rounds_test
