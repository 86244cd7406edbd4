#include "kernels/ring.h"

#include <gtest/gtest.h>

#include <limits>

#include "attention_batch.h"
#include "kernels/hybrid_attention.h"
#include "kernels/reference.h"
#include "kernels/relative_error.h"

namespace stowage::kernels {
namespace {

constexpr float kBlind = -std::numeric_limits<float>::infinity();

void expect_equal_to_rounding(const Tensors& one, const Tensors& many) {
  EXPECT_LE(relative_l2(many.o, widen(one.o)), 1e-6);
  EXPECT_LE(largest_difference(many.dq, one.dq), 3e-5);
  EXPECT_LE(largest_difference(many.dk, one.dk), 3e-5);
  EXPECT_LE(largest_difference(many.dv, one.dv), 3e-5);
}

TEST(Ring, EveryOrderEqualsOneRank) {
  for (const ExchangeKind kind : {ExchangeKind::ring, ExchangeKind::zigzag, ExchangeKind::hybrid}) {
    for (const auto& [heads, kv_heads] : {std::pair{4, 4}, std::pair{6, 2}, std::pair{3, 1}}) {
      for (const int slack : {0, 5}) {
        const std::vector<std::int32_t> cu =
            prefix_sums({kSanitized ? 60 : 260, 1, 0, 33, 64, 7, 130});
        const Batch batch({.total_q = cu.back() + slack,
                           .total_k = cu.back() + slack,
                           .heads = heads,
                           .kv_heads = kv_heads,
                           .head_dim = 32,
                           .cu_q = cu,
                           .cu_k = cu});
        const Tensors one = batch.on_one_rank();
        for (const int ranks : {1, 2, 3, 4, 6, 8}) {
          SCOPED_TRACE(testing::Message()
                       << kExchangeNames[static_cast<std::size_t>(kind)] << ", " << heads << '/'
                       << kv_heads << " heads, " << ranks << " ranks, slack " << slack);
          expect_equal_to_rounding(one, batch.on_ranks(ranks, kind));
        }
      }
    }
  }
}

// The lengths of RingLayout's golden vector: chunks of one and two tokens.
TEST(Ring, ChunksOfOneToken) {
  const std::vector<std::int32_t> cu = prefix_sums({8, 8, 8, 16});
  const Batch batch({.total_q = 40,
                     .total_k = 40,
                     .heads = 2,
                     .kv_heads = 1,
                     .head_dim = 16,
                     .cu_q = cu,
                     .cu_k = cu});
  for (const ExchangeKind kind : {ExchangeKind::zigzag, ExchangeKind::hybrid}) {
    expect_equal_to_rounding(batch.on_one_rank(), batch.on_ranks(4, kind));
  }
}

// A wrong rule for what is visible must show: the layout of one order with the rules of the other.
TEST(Ring, TheOrdersRulesDiffer) {
  const std::vector<std::int32_t> cu = prefix_sums({64});
  const Batch batch({.total_q = 64,
                     .total_k = 64,
                     .heads = 1,
                     .kv_heads = 1,
                     .head_dim = 16,
                     .cu_q = cu,
                     .cu_k = cu});
  const RingLayout layout(RingOrder::zigzag, cu, 64, 2);
  std::vector<float> o(batch.q.size());
  const auto error = run_ranks(2, [&](Communicator& world) {
    AttentionShape local = batch.shape;
    local.total_q = local.total_k = 32;
    local.cu_q = local.cu_k = layout.local_cu_seqlens();
    const std::vector<std::int64_t> rows = layout.rows(world.rank());
    const auto take = [&](const std::vector<float>& all) {
      std::vector<float> mine;
      for (const std::int64_t row : rows) {
        mine.insert(mine.end(), &all[row * 16], &all[row * 16] + 16);
      }
      return mine;
    };
    RingAttention attention(world, RingOrder::contiguous, local, KvGradients::per_kv_head);
    std::vector<float> mine(32 * 16), sums(32);
    attention.forward(take(batch.q), take(batch.k), take(batch.v), {.o = mine, .sums = sums}, {});
    for (std::size_t i = 0; i < rows.size(); ++i) {
      std::copy_n(&mine[i * 16], 16, &o[rows[i] * 16]);
    }
  });
  EXPECT_FALSE(error) << error->message;
  EXPECT_GT(relative_l2(o, widen(batch.on_one_rank().o)), 0.1);
}

// What a step of the ring rests on: attention without a mask, with segments that have no queries or
// no keys.
TEST(Attention, WithoutTheMaskEveryQuerySeesAllKeys) {
  const std::vector<std::int32_t> cu_q = prefix_sums({70, 5, 0, 66}),
                                  cu_k = prefix_sums({33, 0, 9, 130});
  const AttentionShape shape{.total_q = cu_q.back(),
                             .total_k = cu_k.back(),
                             .heads = 4,
                             .kv_heads = 2,
                             .head_dim = 32,
                             .cu_q = cu_q,
                             .cu_k = cu_k,
                             .causal = false};
  const std::vector<float> q = normal_values(shape.q_size(), 1),
                           k = normal_values(shape.k_size(), 2),
                           v = normal_values(shape.k_size(), 3),
                           upstream = normal_values(shape.q_size(), 4);
  std::vector<float> o(q.size()), lse(shape.lse_size()), dq(q.size()), dk(k.size()), dv(k.size());
  std::vector<float> work(std::max(forward_workspace(shape), backward_workspace(shape)));
  attention_forward(shape, q, k, v, o, lse, work);
  attention_backward(shape, {.q = q, .k = k, .v = v, .o = o, .lse = lse, .upstream = upstream},
                     KvGradients::per_kv_head, dq, dk, dv, work);
  const AttentionOutput out = reference_forward(shape, widen(q), widen(k), widen(v));
  const AttentionGradients want =
      reference_backward(shape, widen(q), widen(k), widen(v), widen(upstream));
  EXPECT_LE(relative_l2(o, out.o), 2e-6);
  EXPECT_LE(relative_l2(dq, want.dq), 5e-6);
  EXPECT_LE(relative_l2(dk, want.dk), 5e-6);
  EXPECT_LE(relative_l2(dv, want.dv), 5e-6);
  EXPECT_EQ(lse[72], kBlind);  // the second sequence has no keys
}

TEST(Merge, IsTheLogarithmOfASum) {
  // Two rows of two heads: both sides, only one side, neither.
  std::vector<float> o = {1, 10, 2, 0}, lse = {0, 3, kBlind, kBlind};  // lse is (heads, rows)
  const std::vector<float> more = {3, 20, 4, 0}, more_lse = {std::log(3.0f), kBlind, 5, kBlind};
  merge_attention(2, 2, 1, o, lse, more, more_lse);
  EXPECT_FLOAT_EQ(lse[0], std::log(4.0f));
  EXPECT_FLOAT_EQ(o[0], 0.25f * 1 + 0.75f * 3);
  EXPECT_EQ(lse[1], 3);
  EXPECT_EQ(o[2], 2);
  EXPECT_EQ(lse[2], 5);
  EXPECT_EQ(o[1], 20);
  EXPECT_EQ(lse[3], kBlind);
  EXPECT_EQ(o[3], 0);
}

TEST(Merge, DoesNotOverflow) {
  for (const float far : {0.0f, 80.0f, 100.0f, 1000.0f}) {
    std::vector<float> o = {1}, lse = {200};
    const std::vector<float> more = {5}, more_lse = {200 + far};
    merge_attention(1, 1, 1, o, lse, more, more_lse);
    EXPECT_FLOAT_EQ(lse[0], far == 0 ? 200 + std::log(2.0f) : 200 + far);
    EXPECT_FLOAT_EQ(o[0], far == 0 ? 3 : 5);
  }
}

TEST(Hybrid, TheUlyssesDegreeIsTheLargestDivisorUpToTheRoot) {
  const std::vector<int> want = {1, 1, 1, 2, 1, 2, 1, 2, 3, 2, 1, 3, 1, 2, 3, 4};
  for (int ranks = 1; ranks <= 16; ++ranks) EXPECT_EQ(ulysses_degree(ranks), want[ranks - 1]);
}

}  // namespace
}  // namespace stowage::kernels
