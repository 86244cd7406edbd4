// Coefficients from measurements with noise and outliers, and their intervals.
#include "instances/regression/robust.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "instances/numeric/numbers.h"
#include "instances/regression/interval.h"
#include "tests/instances/regression/noise.h"

namespace stowage::regression_robust_test {
namespace {

struct Measured {
  Design design;
  std::vector<double> ms;
};

// 3 x + 40, of x from 1 to 100, times 1 + noise.
Measured line_of(int rows, double noise, std::mt19937_64& random) {
  Measured line{.design = {.columns = 2}};
  for (int i = 0; i < rows; ++i) {
    const double x = 1 + 99 * draw_unit(random);
    line.design.values.insert(line.design.values.end(), {x, 1});
    line.ms.push_back((3 * x + 40) * (1 + noise * draw_normal(random)));
  }
  return line;
}

TEST(Robust, FindsWhatIsExact) {
  std::mt19937_64 random(1);
  const Measured line = line_of(10, 0, random);
  const Regression found = regress(line.design, line.ms);
  EXPECT_NEAR(found.coefficients[0], 3, 1e-9);
  EXPECT_NEAR(found.coefficients[1], 40, 1e-8);
  EXPECT_LT(interval95(found, 0).high - interval95(found, 0).low, 1e-6);
  EXPECT_EQ(found.freedom, 8);
}

TEST(Robust, IntervalsHoldTheTruthAsOftenAsTheySay) {
  std::mt19937_64 random(2);
  for (const int rows : {6, 12, 60}) {
    int held = 0;
    constexpr int kRounds = 400;
    double noise = 0;
    for (int round = 0; round < kRounds; ++round) {
      const Measured line = line_of(rows, 0.02, random);
      const Regression found = regress(line.design, line.ms);
      const Interval slope = interval95(found, 0);
      const Interval fixed = interval95(found, 1);
      held += slope.low <= 3 && 3 <= slope.high ? 1 : 0;
      held += fixed.low <= 40 && 40 <= fixed.high ? 1 : 0;
      noise += found.noise / kRounds;
    }
    EXPECT_GT(held, 2 * kRounds * (rows < 10 ? 0.87 : rows < 20 ? 0.90 : 0.93)) << rows;
    EXPECT_LT(held, 2 * kRounds) << rows;
    EXPECT_NEAR(noise, 0.02, 0.004) << rows;
  }
}

TEST(Robust, OutliersCountNothing) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 50; ++round) {
    Measured line = line_of(100, 0.02, random);
    const Regression clean = regress(line.design, line.ms);
    for (std::size_t i = 0; i < 10; ++i) line.ms[7 * i] *= 3;
    const Regression found = regress(line.design, line.ms);
    for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(found.weights[7 * i], 0);
    for (const std::size_t c : {0, 1}) {
      EXPECT_NEAR(found.coefficients[c] / clean.coefficients[c], 1, 0.03) << round;
    }
  }
}

TEST(Robust, SaysWhatCannotBeToldApart) {
  // The second column is twice the first, the fourth is empty.
  Measured same{.design = {.columns = 4}};
  for (int i = 1; i <= 8; ++i) {
    same.design.values.insert(same.design.values.end(), {1.0 * i, 2.0 * i, 1, 0});
    same.ms.push_back(6.0 * i + 5);
  }
  const Regression found = regress(same.design, same.ms);
  EXPECT_THAT(found.determined, testing::ElementsAre(false, false, true, false));
  EXPECT_NEAR(found.coefficients[0] + 2 * found.coefficients[1], 6, 1e-9);
  EXPECT_EQ(found.coefficients[3], 0);
  EXPECT_EQ(interval95(found, 0).high, kInfinity);
  EXPECT_NEAR(found.coefficients[2], 5, 1e-8);
}

// The longer of a compute that is 2 x and a transfer that is 30.
TEST(Robust, FindsTheCoefficientsOfPieces) {
  std::mt19937_64 random(4);
  std::vector<double> x;
  std::vector<double> ms;
  for (int i = 0; i < 60; ++i) {
    x.push_back(1 + 39 * draw_unit(random));
    ms.push_back(std::max(2 * x.back(), 30.0) * (1 + 0.01 * draw_normal(random)));
  }
  const Regression found = regress(
      [&](const std::vector<double>& coefficients) {
        Design design{.columns = 2};
        for (const double own : x) {
          if (coefficients.empty()) {
            design.values.insert(design.values.end(), {own / 2, 0.5});
            continue;
          }
          const bool transfer = coefficients[1] > coefficients[0] * own;
          design.values.insert(design.values.end(), {transfer ? 0 : own, transfer ? 1.0 : 0});
        }
        return design;
      },
      ms);
  EXPECT_NEAR(found.coefficients[0], 2, 0.04);
  EXPECT_NEAR(found.coefficients[1], 30, 0.6);
}

TEST(Robust, QuantilesAreThoseOfTables) {
  for (const auto& [freedom, quantile] : std::vector<std::pair<double, double>>{{1, 12.706},
                                                                                {2, 4.303},
                                                                                {3, 3.182},
                                                                                {5, 2.571},
                                                                                {10, 2.228},
                                                                                {30, 2.042},
                                                                                {1e6, 1.96}}) {
    EXPECT_NEAR(student975(freedom) / quantile, 1, 0.01) << freedom;
  }
  EXPECT_EQ(student975(0), kInfinity);
}

}  // namespace
}  // namespace stowage::regression_robust_test
