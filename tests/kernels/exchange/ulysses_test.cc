#include "kernels/exchange/ulysses.h"

#include <gtest/gtest.h>

#include "tests/kernels/attention_batch.h"

namespace stowage::kernels::exchange_ulysses_test {
namespace {

struct Heads {
  int heads, kv_heads;
};

TEST(Ulysses, EqualsOneRankBitForBit) {
  for (const auto [heads, kv_heads] : {Heads{7, 7}, Heads{7, 1}, Heads{8, 8}, Heads{8, 2},
                                       Heads{8, 1}, Heads{12, 4}, Heads{12, 3}, Heads{1, 1}}) {
    for (const int slack : {0, 3}) {
      const std::vector<std::int32_t> cu = prefix_sums({70, 1, 0, 66});
      const Batch batch({.total_q = cu.back() + slack,
                         .total_k = cu.back() + slack,
                         .heads = heads,
                         .kv_heads = kv_heads,
                         .head_dim = 20,
                         .cu_q = cu,
                         .cu_k = cu});
      const Tensors one = batch.on_one_rank();
      for (const int ranks : {1, 2, 3, 4, 8}) {
        SCOPED_TRACE(testing::Message() << heads << '/' << kv_heads << " heads, " << ranks
                                        << " ranks, slack " << slack);
        const Tensors many = batch.on_ranks(ranks, ExchangeKind::ulysses);
        EXPECT_TRUE(same_bits(one.o, many.o));
        EXPECT_TRUE(same_bits(one.dq, many.dq));
        EXPECT_TRUE(same_bits(one.dk, many.dk));
        EXPECT_TRUE(same_bits(one.dv, many.dv));
      }
    }
  }
}

TEST(Ulysses, FewerTokensThanRanks) {
  const std::vector<std::int32_t> cu = {0, 2, 3};
  const Batch batch({.total_q = 3,
                     .total_k = 3,
                     .heads = 4,
                     .kv_heads = 2,
                     .head_dim = 8,
                     .cu_q = cu,
                     .cu_k = cu});
  const Tensors one = batch.on_one_rank(), many = batch.on_ranks(8, ExchangeKind::ulysses);
  EXPECT_TRUE(same_bits(one.dk, many.dk));
  EXPECT_TRUE(same_bits(one.o, many.o));
}

}  // namespace
}  // namespace stowage::kernels::exchange_ulysses_test
