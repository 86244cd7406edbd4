// Least squares without negative coefficients, against every choice of positive columns.
#include "instances/regression/non_negative.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "tests/instances/regression/noise.h"

namespace stowage::regression_non_negative_test {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

double squares(const Design& a, const std::vector<double>& b, const std::vector<double>& x) {
  double sum = 0;
  for (std::size_t i = 0; i < b.size(); ++i) sum += std::pow(a.times(i, x) - b[i], 2);
  return sum;
}

// Returns the least sum of squares over all sets of columns whose least-squares solution is
// positive.
double least_of_all_sets(const Design& a, const std::vector<double>& b) {
  double least = squares(a, b, std::vector<double>(a.columns, 0));
  for (unsigned set = 1; set < 1U << a.columns; ++set) {
    std::vector<std::size_t> used;
    for (std::size_t c = 0; c < a.columns; ++c) {
      if ((set >> c & 1U) != 0) used.push_back(c);
    }
    Eigen::MatrixXd part(static_cast<Eigen::Index>(b.size()),
                         static_cast<Eigen::Index>(used.size()));
    Eigen::VectorXd right(part.rows());
    for (Eigen::Index i = 0; i < part.rows(); ++i) {
      right[i] = b[static_cast<std::size_t>(i)];
      for (Eigen::Index c = 0; c < part.cols(); ++c) {
        part(i, c) = a.at(static_cast<std::size_t>(i), used[static_cast<std::size_t>(c)]);
      }
    }
    const Eigen::VectorXd found = part.completeOrthogonalDecomposition().solve(right);
    if (found.minCoeff() < 0) continue;
    std::vector<double> x(a.columns, 0);
    for (std::size_t k = 0; k < used.size(); ++k) x[used[k]] = found[static_cast<Eigen::Index>(k)];
    least = std::min(least, squares(a, b, x));
  }
  return least;
}

TEST(NonNegative, IsTheLeastOfAllSetsOfColumns) {
  std::mt19937_64 random(1);
  int at_zero = 0;
  for (int round = 0; round < 300; ++round) {
    Design a{.columns = 1 + draw(random, 5)};
    const std::size_t rows = 1 + draw(random, 9);
    std::vector<double> b;
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t c = 0; c < a.columns; ++c) {
        a.values.push_back(draw_normal(random) * std::pow(10.0, 3.0 * static_cast<double>(c)));
      }
      b.push_back(draw_normal(random));
    }
    const std::vector<double> x = non_negative_least_squares(a, b);
    for (const double own : x) {
      EXPECT_GE(own, 0);
      at_zero += own == 0 ? 1 : 0;
    }
    EXPECT_NEAR(squares(a, b, x), least_of_all_sets(a, b), 1e-9) << "round " << round;
  }
  EXPECT_GT(at_zero, 100);
}

TEST(NonNegative, TakesOneOfColumnsThatAreTheSame) {
  const Design twice{.columns = 3, .values = {1, 1, 0, 2, 2, 0, 3, 3, 0}};
  const std::vector<double> x = non_negative_least_squares(twice, {2, 4, 6});
  EXPECT_NEAR(x[0] + x[1], 2, 1e-12);
  EXPECT_EQ(x[2], 0);
  EXPECT_THAT(non_negative_least_squares({.columns = 1, .values = {1, 1}}, {-1, -2}),
              ElementsAre(0));
  EXPECT_THAT(non_negative_least_squares({.columns = 1, .values = {1, 1}}, {1, 3}),
              ElementsAre(DoubleNear(2, 1e-12)));
  EXPECT_THAT(non_negative_least_squares({.columns = 2}, {}), ElementsAre(0, 0));
}

}  // namespace
}  // namespace stowage::regression_non_negative_test
