#include "kernels/block/operation/vocabulary_head.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "kernels/block/relative_error.h"
#include "kernels/ranks/thread_ranks.h"
#include "tests/kernels/numbers.h"

namespace stowage::kernels::block_vocabulary_head_test {
namespace {

constexpr int kHidden = 12;
constexpr std::int64_t kVocabulary = 60, kTokens = 17;

struct Result {
  double loss = 0;
  std::vector<double> dy, gradient;
};

// The formula, token by token, in double.
Result by_hand(const std::vector<float>& y, const std::vector<float>& weights,
               const std::vector<std::int32_t>& targets) {
  Result result{.dy = std::vector<double>(y.size()),
                .gradient = std::vector<double>(weights.size())};
  for (std::int64_t t = 0; t < kTokens; ++t) {
    std::vector<double> p(kVocabulary);
    for (std::int64_t w = 0; w < kVocabulary; ++w) {
      for (int h = 0; h < kHidden; ++h) {
        p[w] += double{y[t * kHidden + h]} * weights[h * kVocabulary + w];
      }
    }
    double sum = 0;
    for (const double z : p) sum += std::exp(z);
    result.loss += std::log(sum) - p[targets[t]];
    for (double& z : p) z = std::exp(z) / sum;
    p[targets[t]] -= 1;
    for (std::int64_t w = 0; w < kVocabulary; ++w) {
      for (int h = 0; h < kHidden; ++h) {
        result.dy[t * kHidden + h] += p[w] * weights[h * kVocabulary + w];
        result.gradient[h * kVocabulary + w] += p[w] * y[t * kHidden + h];
      }
    }
  }
  return result;
}

TEST(VocabularyHead, EqualsTheFormulaOnAnyRanksAndInAnyChunks) {
  const std::vector<float> y = normal_values(kTokens * kHidden, 1, 3);
  const std::vector<float> weights = synthetic_head(kHidden, kVocabulary, 5);
  const std::vector<std::int32_t> targets = synthetic_targets(5, 2, 0, kTokens, kVocabulary);
  const Result want = by_hand(y, weights, targets);
  for (const int ranks : {1, 2, 4}) {
    for (const std::int64_t most : {1, 5, 17}) {
      SCOPED_TRACE(testing::Message() << ranks << " ranks, chunks of " << most);
      const std::int64_t columns = kVocabulary / ranks;
      std::vector<float> gradient(weights.size());
      const auto error = run_ranks(ranks, [&](Communicator& world) {
        const HeadPart part{.hidden = kHidden,
                            .first = world.rank() * columns,
                            .columns = columns,
                            .peers = ranks > 1 ? &world : nullptr};
        std::vector<float> mine, sums(kHidden * columns), dy(y.size());
        for (int h = 0; h < kHidden; ++h) {
          const auto row = weights.begin() + h * kVocabulary + part.first;
          mine.insert(mine.end(), row, row + columns);
        }
        double loss = 0;
        std::vector<float> logits(most * columns);
        for (std::int64_t first = 0; first < kTokens; first += most) {
          const std::int64_t count = std::min(most, kTokens - first);
          loss += head_chunk(part, mine,
                             {.y = std::span(y).subspan(first * kHidden, count * kHidden),
                              .targets = std::span(targets).subspan(first, count)},
                             std::span(logits).first(count * columns),
                             std::span(dy).subspan(first * kHidden, count * kHidden), sums);
        }
        EXPECT_NEAR(loss, want.loss, 1e-6 * want.loss);
        EXPECT_LE(relative_l2(dy, want.dy), 2e-6);
        for (int h = 0; h < kHidden; ++h) {
          std::copy_n(sums.begin() + h * columns, columns,
                      gradient.begin() + h * kVocabulary + part.first);
        }
      });
      ASSERT_FALSE(error) << error->message;
      EXPECT_LE(relative_l2(gradient, want.gradient), 2e-6);
    }
  }
}

TEST(VocabularyHead, TargetsAreOfTheTokenAndSpread) {
  const std::vector<std::int32_t> all = synthetic_targets(5, 2, 0, 400, 7);
  const std::vector<std::int32_t> some = synthetic_targets(5, 2, 100, 50, 7);
  EXPECT_TRUE(std::equal(some.begin(), some.end(), all.begin() + 100));
  EXPECT_NE(all, synthetic_targets(5, 3, 0, 400, 7));
  EXPECT_EQ(std::set<std::int32_t>(all.begin(), all.end()),
            (std::set<std::int32_t>{0, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(synthetic_targets(5, 2, 0, 2, 1), (std::vector<std::int32_t>{0, 0}));
}

}  // namespace
}  // namespace stowage::kernels::block_vocabulary_head_test
