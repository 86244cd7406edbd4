#include "kernels/exchange/ring_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "kernels/exchange/exchange.h"
#include "tests/kernels/numbers.h"

namespace stowage::kernels::exchange_ring_layout_test {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

// Lengths 8, 8, 8 and 16 on four ranks, cut as TransformerEngine documents for packed sequences:
// eight chunks each, of one token and of two.
TEST(RingLayout, ZigzagOfFourSequencesOnFourRanks) {
  const std::vector<std::int32_t> cu = prefix_sums({8, 8, 8, 16});
  const RingLayout ring(RingOrder::zigzag, cu, 40, 4);
  EXPECT_THAT(ring.cu_seqlens_padded(), ElementsAreArray(cu));
  EXPECT_THAT(ring.local_cu_seqlens(), ElementsAre(0, 2, 4, 6, 10));
  EXPECT_THAT(ring.rows(0), ElementsAre(0, 7, 8, 15, 16, 23, 24, 25, 38, 39));
  EXPECT_THAT(ring.rows(1), ElementsAre(1, 6, 9, 14, 17, 22, 26, 27, 36, 37));
  EXPECT_THAT(ring.rows(2), ElementsAre(2, 5, 10, 13, 18, 21, 28, 29, 34, 35));
  EXPECT_THAT(ring.rows(3), ElementsAre(3, 4, 11, 12, 19, 20, 30, 31, 32, 33));
}

TEST(RingLayout, PadsEverySequenceToItsChunks) {
  const std::vector<std::int32_t> cu = prefix_sums({5, 0, 1});
  const RingLayout zigzag(RingOrder::zigzag, cu, 6, 2);
  EXPECT_THAT(zigzag.cu_seqlens_padded(), ElementsAre(0, 8, 8, 12));
  EXPECT_THAT(zigzag.local_cu_seqlens(), ElementsAre(0, 4, 4, 6));
  EXPECT_THAT(zigzag.rows(0), ElementsAre(0, 1, -1, -1, 5, -1));
  EXPECT_THAT(zigzag.rows(1), ElementsAre(2, 3, 4, -1, -1, -1));
  const RingLayout contiguous(RingOrder::contiguous, cu, 6, 2);
  EXPECT_THAT(contiguous.cu_seqlens_padded(), ElementsAre(0, 6, 6, 8));
  EXPECT_THAT(contiguous.rows(0), ElementsAre(0, 1, 2, 5));
  EXPECT_THAT(contiguous.rows(1), ElementsAre(3, 4, -1, -1));
}

TEST(RingLayout, RefusesWhatPaddingMakesTooLong) {
  const std::vector<std::int32_t> cu = prefix_sums(std::vector<int>(1 << 16, 1));
  EXPECT_THROW(RingLayout(RingOrder::zigzag, cu, 1 << 16, 1 << 14), std::length_error);
}

TEST(TokenLayout, HoldsEveryRowOnceWhateverTheExchange) {
  const std::vector<std::int32_t> cu = prefix_sums({5, 0, 1, 30, 12, 7});
  const std::int64_t tokens = cu.back() + 3;
  for (std::size_t kind = 0; kind < kExchangeNames.size(); ++kind) {
    for (const int ranks : {1, 2, 3, 4, 8}) {
      SCOPED_TRACE(testing::Message() << kExchangeNames[kind] << " on " << ranks);
      const TokenLayout layout =
          token_layout({.kind = static_cast<ExchangeKind>(kind)}, cu, tokens, ranks);
      EXPECT_EQ(static_cast<int>(layout.split.size()), ranks + 1);
      EXPECT_EQ(layout.split.back(), static_cast<std::int64_t>(layout.rows.size()));
      std::vector<int> seen(tokens);
      for (const std::int64_t row : layout.rows) {
        if (row >= 0) ++seen[row];
      }
      EXPECT_EQ(seen, std::vector<int>(tokens, 1));
    }
  }
}

TEST(Exchange, NamesAndLimits) {
  EXPECT_EQ(exchange_kind("hybrid"), ExchangeKind::hybrid);
  EXPECT_EQ(exchange_kind("zigzags"), std::nullopt);
  EXPECT_THAT(check(Exchange{}), testing::IsEmpty());
  EXPECT_THAT(
      check(Exchange{.chunk_size = -1, .retained = 0}),
      ElementsAre("chunk_size must be 0 or more, is -1", "retained must be at least 1, is 0"));
}

}  // namespace
}  // namespace stowage::kernels::exchange_ring_layout_test
