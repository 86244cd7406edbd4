// The command's own LAPACK: factors and solutions against the matrix that they belong to.
#include "solvers/lp/lapack.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "instances/numeric/random.h"

namespace stowage::lp_lapack_test {
namespace {

// Returns an n x n matrix by columns, with `stride` rows each; the rows in between are NaN.
std::vector<double> random_matrix(std::mt19937_64& random, int n, int stride) {
  std::vector<double> a(static_cast<std::size_t>(stride * n), std::nan(""));
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) {
      // Many zeros, so that rows must be swapped.
      const bool zero = draw(random, 3) == 0;
      a[static_cast<std::size_t>(j * stride + i)] = zero ? 0 : 2 * draw_unit(random) - 1;
    }
  }
  return a;
}

TEST(Lapack, SolvesBothWays) {
  std::mt19937_64 random(1);
  int solved = 0;
  for (int k = 0; k < 200; ++k) {
    const int n = 1 + static_cast<int>(draw(random, 30));
    const int stride = n + static_cast<int>(draw(random, 3));
    const std::vector<double> a = random_matrix(random, n, stride);
    std::vector<double> factors = a;
    std::vector<int> pivots(static_cast<std::size_t>(n));
    int info = -1;
    dgetrf_(&n, &n, factors.data(), &stride, pivots.data(), &info);
    if (info > 0) continue;  // a singular matrix, by chance
    ++solved;
    for (const bool transposed : {false, true}) {
      const int two = 2;
      std::vector<double> right(static_cast<std::size_t>(2 * n));
      for (double& each : right) each = 2 * draw_unit(random) - 1;
      std::vector<double> x = right;
      dgetrs_(transposed ? "T" : "N", &n, &two, factors.data(), &stride, pivots.data(), x.data(),
              &n, &info);
      EXPECT_EQ(info, 0);
      for (int side = 0; side < 2; ++side) {
        // If the matrix is nearly singular, x is large, and so are the rounding errors of its
        // terms.
        double largest = 1;
        for (int i = 0; i < n; ++i) {
          largest = std::max(largest, std::abs(x[static_cast<std::size_t>(side * n + i)]));
        }
        for (int i = 0; i < n; ++i) {
          double sum = 0;
          for (int j = 0; j < n; ++j) {
            const int at = transposed ? i * stride + j : j * stride + i;
            sum += a[static_cast<std::size_t>(at)] * x[static_cast<std::size_t>(side * n + j)];
          }
          EXPECT_NEAR(sum, right[static_cast<std::size_t>(side * n + i)], 1e-14 * largest * n);
        }
      }
    }
  }
  EXPECT_GT(solved, 150);
}

// The pivots are those of partial pivoting: the largest entry of the column, numbered from 1.
TEST(Lapack, FactorsAsTheTextbookDoes) {
  const int n = 2;
  std::vector<double> a = {1, 4, 2, 6};  // (1 2; 4 6)
  std::vector<int> pivots(2);
  int info = -1;
  dgetrf_(&n, &n, a.data(), &n, pivots.data(), &info);
  EXPECT_EQ(info, 0);
  EXPECT_EQ(pivots, (std::vector<int>{2, 2}));
  EXPECT_EQ(a, (std::vector<double>{4, 0.25, 6, 0.5}));
}

TEST(Lapack, NamesTheFirstColumnWithoutAPivot) {
  const int n = 3;
  std::vector<double> a = {1, 2, 3, 2, 4, 6, 0, 0, 1};
  std::vector<int> pivots(3);
  int info = -1;
  dgetrf_(&n, &n, a.data(), &n, pivots.data(), &info);
  EXPECT_EQ(info, 2);
}

}  // namespace
}  // namespace stowage::lp_lapack_test
