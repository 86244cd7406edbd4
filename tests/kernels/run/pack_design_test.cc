// The choice of packs, evaluated by their design matrix and not by times.
#include "kernels/run/timing/pack_design.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace stowage::kernels::run_pack_design_test {
namespace {

const std::vector<int> kDegrees = {1, 2, 4, 8};

struct Quality {
  std::vector<double> errors;  // standard errors, as shares of the coefficients; noise is 1 %
  double ms = 0;               // of all packs on one core
};

// The diagonal of the inverse of a symmetric positive definite matrix: Gauss and Jordan.
std::vector<double> inverse_diagonal(std::vector<std::vector<double>> matrix) {
  const std::size_t n = matrix.size();
  for (std::size_t i = 0; i < n; ++i) {
    matrix[i].resize(2 * n, 0.0);
    matrix[i][n + i] = 1;
  }
  for (std::size_t i = 0; i < n; ++i) {
    const double pivot = matrix[i][i];
    EXPECT_GT(pivot, 0) << "column " << i << " is not determined";
    for (double& value : matrix[i]) value /= pivot;
    for (std::size_t row = 0; row < n; ++row) {
      if (row == i) continue;
      const double factor = matrix[row][i];
      for (std::size_t c = 0; c < 2 * n; ++c) matrix[row][c] -= factor * matrix[i][c];
    }
  }
  std::vector<double> diagonal;
  for (std::size_t i = 0; i < n; ++i) diagonal.push_back(matrix[i][n + i]);
  return diagonal;
}

// Evaluates packs for a machine with 2e-5 ms per pair, 0.04 ms per token, 1 ms per group and the
// same latency, and an exchange of 0.0006 ms per token.
Quality quality(const std::vector<PackShape>& packs) {
  const std::size_t columns = 2 * kDegrees.size() + 1;  // degree 1 has no exchange
  std::vector<std::vector<double>> normal(columns, std::vector<double>(columns, 0.0));
  Quality found;
  for (const PackShape& pack : packs) {
    double tokens = 0;
    double squares = 0;
    for (const Tokens s : pack.lengths) {
      tokens += static_cast<double>(s);
      squares += static_cast<double>(s * s);
    }
    std::vector<double> row(columns, 0.0);
    row[0] = 2e-5 * squares / pack.degree;
    row[1] = 0.04 * tokens / pack.degree;
    row[2] = 1;
    const auto index = static_cast<std::size_t>(
        std::find(kDegrees.begin(), kDegrees.end(), pack.degree) - kDegrees.begin());
    if (index > 0) {
      row[2 * index + 1] = 1;
      row[2 * index + 2] = 0.0006 * tokens / pack.degree;
    }
    const double ms = std::accumulate(row.begin(), row.end(), 0.0);
    found.ms += ms * pack.degree;
    for (std::size_t a = 0; a < columns; ++a) {
      for (std::size_t b = 0; b < columns; ++b) normal[a][b] += row[a] * row[b] / ms / ms;
    }
  }
  for (const double variance : inverse_diagonal(normal)) {
    found.errors.push_back(0.01 * std::sqrt(variance));
  }
  return found;
}

double worst(const Quality& of) { return *std::max_element(of.errors.begin(), of.errors.end()); }

TEST(PackDesign, EveryCoefficientShows) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    std::mt19937_64 random(seed);
    const Quality chosen =
        quality(informative_packs(random, {.degrees = kDegrees, .packs = 18, .least_tokens = 64}));
    // An exchange of 1.5 % of a token's time, in 14 packs of a degree that are off by 1 %.
    EXPECT_LT(worst(chosen), 0.6) << seed;
    EXPECT_LT(chosen.errors[0], 0.03) << seed;  // quadratic
    EXPECT_LT(chosen.errors[1], 0.01) << seed;  // linear
    EXPECT_LT(chosen.errors[2], 0.08) << seed;  // fixed
  }
}

// The remaining variance times the measuring time: random packs need more time for the same
// variance.
TEST(PackDesign, ChosenPacksSayMoreForTheirTimeThanDrawnOnes) {
  double chosen_sum = 0;
  double drawn_sum = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const PackRange range{.degrees = kDegrees};
    std::mt19937_64 random(seed);
    const Quality chosen = quality(informative_packs(random, range));
    std::vector<PackShape> packs;
    for (const int degree : kDegrees) {
      for (int k = 0; k < range.packs; ++k) packs.push_back(random_pack(random, range, degree));
    }
    const Quality drawn = quality(packs);
    chosen_sum += std::pow(worst(chosen), 2) * chosen.ms;
    drawn_sum += std::pow(worst(drawn), 2) * drawn.ms;
  }
  EXPECT_LT(chosen_sum, 0.75 * drawn_sum);
}

TEST(PackDesign, PacksAreOfTheRangeAndByDegree) {
  std::mt19937_64 random(3);
  const PackRange range{.degrees = {1, 4}, .packs = 70, .least_tokens = 100, .most_tokens = 300};
  const std::vector<PackShape> packs = informative_packs(random, range);
  ASSERT_EQ(packs.size(), 140U);  // the last six of each are drawn
  for (std::size_t i = 0; i < packs.size(); ++i) {
    EXPECT_EQ(packs[i].degree, i < 70 ? 1 : 4);
    const Tokens tokens =
        std::accumulate(packs[i].lengths.begin(), packs[i].lengths.end(), Tokens{0});
    EXPECT_GE(tokens, 100);
    EXPECT_LE(tokens, 300);
    EXPECT_GT(*std::min_element(packs[i].lengths.begin(), packs[i].lengths.end()), 0);
  }
}

TEST(PackDesign, PacksAreLikeTheGroupsOfTheirDegree) {
  std::mt19937_64 random(4);
  const PackRange range{.degrees = {1, 2, 4},
                        .packs = 20,
                        .most_tokens = 256,
                        .like = {{1, {1000, 500}}, {1, {70}}, {4, {3000, 20, 1}}}};
  int pairs = 0;
  for (const PackShape& pack : informative_packs(random, range)) {
    if (pack.degree == 2) {  // no group has it
      EXPECT_LE(std::accumulate(pack.lengths.begin(), pack.lengths.end(), Tokens{0}), 256);
      continue;
    }
    const auto same = std::ranges::find_if(range.like, [&](const PackShape& group) {
      return group.degree == pack.degree && group.lengths.size() == pack.lengths.size();
    });
    ASSERT_NE(same, range.like.end());
    for (std::size_t i = 0; i < pack.lengths.size(); ++i) {
      const double factor =
          static_cast<double>(pack.lengths[i]) / static_cast<double>(same->lengths[i]);
      EXPECT_GE(factor, 0.71);
      EXPECT_LE(factor, 1.41);
    }
    pairs += pack.lengths.size() == 2 ? 1 : 0;
  }
  EXPECT_GT(pairs, 0);
  EXPECT_LT(pairs, 20);  // both groups of degree 1 are drawn
}

TEST(PackDesign, TheExpectedCostHasABandwidthForEveryDegreeAboveOne) {
  const ScatterCost cost = expected_cost(kDegrees);
  EXPECT_EQ(cost.all_to_all.mib_per_ms.size(), 3U);
  EXPECT_EQ(cost.all_to_all.latency_ms.size(), 3U);
  EXPECT_FALSE(cost.all_to_all.mib_per_ms.contains(1));
}

}  // namespace
}  // namespace stowage::kernels::run_pack_design_test
