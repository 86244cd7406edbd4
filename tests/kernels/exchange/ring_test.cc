// Rings of ranks.
#include "kernels/exchange/ring.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "kernels/attention/attention_units.h"
#include "kernels/attention/reference.h"
#include "kernels/attention/simd/table.h"
#include "kernels/block/relative_error.h"
#include "kernels/exchange/hybrid_attention.h"
#include "tests/kernels/attention_arrays.h"
#include "tests/kernels/attention_batch.h"

namespace stowage::kernels::exchange_ring_test {
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

// Many steps of many tiles each: the rounding errors of the steps must not accumulate.
TEST(Ring, ALongSequence) {
  const std::vector<std::int32_t> cu = {0, kSanitized ? 400 : 4096};
  const Batch batch({.total_q = cu.back(),
                     .total_k = cu.back(),
                     .heads = 2,
                     .kv_heads = 1,
                     .head_dim = 64,
                     .cu_q = cu,
                     .cu_k = cu});
  const Tensors one = batch.on_one_rank();
  for (const ExchangeKind kind : {ExchangeKind::ring, ExchangeKind::zigzag, ExchangeKind::hybrid}) {
    SCOPED_TRACE(kExchangeNames[static_cast<std::size_t>(kind)]);
    expect_equal_to_rounding(one, batch.on_ranks(8, kind));
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

// A wrong rule of visibility must be detected: the layout of one order with the rules of the other.
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
    std::vector<float> mine(32 * 16), sums(local.lse_size());
    attention.forward(take(batch.q), take(batch.k), take(batch.v), {.o = mine, .sums = sums}, {});
    for (std::size_t i = 0; i < rows.size(); ++i) {
      std::copy_n(&mine[i * 16], 16, &o[rows[i] * 16]);
    }
  });
  EXPECT_FALSE(error) << error->message;
  EXPECT_GT(relative_l2(o, widen(batch.on_one_rank().o)), 0.1);
}

// A step of the ring needs attention without a mask, with segments that have no queries or no keys.
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

// Attention over several runs of keys, each of which continues from the previous one.
struct InParts {
  AttentionArrays arrays;

  // Cuts the keys of a case of one sequence at `cuts`.
  InParts(const AttentionCase& given, const std::vector<std::int32_t>& cuts) : arrays(given) {
    run(cuts);
  }
  void run(const std::vector<std::int32_t>& cuts) {
    AttentionShape part = arrays.shape;
    const std::int64_t width = std::int64_t{part.kv_heads} * part.head_dim;
    const std::int64_t row = grad_row(part.head_dim);
    std::vector<float> work(std::max(forward_workspace(part), backward_workspace(part)));
    std::vector<float> dk(part.total_k * part.kv_heads * row), dv(dk.size());
    std::vector<float> delta(arrays.lse.size(), 99);  // kept from part to part, or not
    const auto each_part = [&](auto visit) {
      for (std::size_t c = 0; c + 1 < cuts.size(); ++c) {
        const std::vector<std::int32_t> cu_k = {0, cuts[c + 1] - cuts[c]};
        part.cu_k = cu_k;
        part.total_k = cu_k.back();
        part.causal = false;
        KeyArrays keys = keys_by_token(part, arrays.k, arrays.v);
        keys.k.rows += cuts[c] * width;
        keys.v.rows += cuts[c] * width;
        visit(keys, c, cuts[c] * row);
      }
    };
    each_part([&](const KeyArrays& keys, std::size_t c, std::int64_t) {
      ForwardUnits units(
          part, {.q = arrays.q, .keys = keys, .o = arrays.o, .lse = arrays.lse, .resume = c > 0},
          0);
      while (units.next()) units.run(work);
    });
    each_part([&](const KeyArrays& keys, std::size_t c, std::int64_t at) {
      BackwardUnits units(part, arrays.backward_input(), keys, KvGradients::per_kv_head,
                          {.dq = arrays.dq,
                           .add_to_dq = c > 0,
                           .delta = std::span(delta).first(cuts.size() % 2 == 0 ? 0 : delta.size()),
                           .dk = std::span(dk).subspan(at),
                           .dv = std::span(dv).subspan(at),
                           .grad_rows = arrays.shape.total_k});
      while (units.next()) units.run(work);
    });
    write_kv_gradients({.begin = 0,
                        .rows = arrays.shape.total_k,
                        .total = arrays.shape.total_k,
                        .heads = part.kv_heads,
                        .dim = part.head_dim,
                        .value_dim = part.head_dim,
                        .scale = part.logit_scale()},
                       dk, dv, arrays.dk, arrays.dv);
  }
};

// A ring's computation for a rank's queries, within the tolerances of attention at once.
TEST(Resume, KeysInPartsAreTheKeysAtOnce) {
  for (const int dim : {16, 20, 64, 80, 128, 256}) {
    if (kSanitized && dim > 20) continue;
    for (const auto& [heads, kv_heads] : {std::pair{4, 4}, std::pair{4, 1}, std::pair{8, 1}}) {
      for (const float peak : {1.0f, 8.0f}) {
        std::optional<AttentionOutput> out;  // the same for all cuts
        std::optional<AttentionGradients> want;
        for (const auto& cuts : std::vector<std::vector<std::int32_t>>{
                 {0, 300}, {0, 64, 300}, {0, 1, 2, 130, 131, 300}, {0, 37, 37, 211, 300}}) {
          SCOPED_TRACE(testing::Message()
                       << "dim " << dim << ", " << heads << '/' << kv_heads << " heads, peak "
                       << peak << ", " << cuts.size() - 1 << " parts");
          InParts parts({.heads = heads,
                         .kv_heads = kv_heads,
                         .dim = dim,
                         .lq = {77},
                         .lk = {300},
                         .peak = peak},
                        cuts);
          AttentionArrays& have = parts.arrays;
          if (!out) {
            AttentionShape shape = have.shape;
            shape.causal = false;
            const auto q = widen(have.q), k = widen(have.k), v = widen(have.v);
            out = reference_forward(shape, q, k, v);
            want = reference_backward(shape, q, k, v, widen(have.upstream));
          }
          EXPECT_LE(relative_l2(have.o, out->o), peak > 1 ? 5e-6 : 2e-6);
          EXPECT_LE(relative_l2(have.dq, want->dq), peak > 1 ? 2e-5 : 5e-6);
          EXPECT_LE(relative_l2(have.dk, want->dk), peak > 1 ? 2e-5 : 5e-6);
          EXPECT_LE(relative_l2(have.dv, want->dv), peak > 1 ? 2e-5 : 5e-6);
          for (std::size_t i = 0; i < out->lse.size(); ++i) {
            ASSERT_LE(std::abs(have.lse[i] - out->lse[i]),
                      3e-6 * std::max(1.0, std::abs(out->lse[i])));
          }
        }
      }
    }
  }
}

// One key after another for one query: the shares follow from the logits, whichever is larger and
// however far apart they are. Between the keys the LSE is 200 in single precision; half a unit in
// its last place changes a share of one half by 2e-6.
TEST(Resume, DoesNotOverflow) {
  for (const float far : {0.0f, 80.0f, -80.0f, 100.0f, 1000.0f, -1000.0f}) {
    SCOPED_TRACE(far);
    InParts parts({.heads = 1, .kv_heads = 1, .dim = 1, .lq = {1}, .lk = {2}}, {0, 2});
    AttentionArrays& run = parts.arrays;
    run.shape.scale = 1;
    run.q = {1};
    run.k = {200, 200 + far};
    run.v = {1, 5};
    parts.run({0, 1, 2});
    if (far == 0) {
      EXPECT_NEAR(run.lse[0], 200 + std::log(2.0), 3e-5);
      EXPECT_NEAR(run.o[0], 3, 4 * 2e-6);
    } else {
      EXPECT_FLOAT_EQ(run.lse[0], std::max(200.0f, 200 + far));
      EXPECT_FLOAT_EQ(run.o[0], far > 0 ? 5 : 1);
    }
  }
}

// A query that has seen no key yet takes the new values; one that sees no further key keeps its
// values.
TEST(Resume, BlindQueries) {
  for (const bool first_blind : {true, false}) {
    AttentionArrays run({.heads = 2, .kv_heads = 1, .dim = 16, .lq = {70}, .lk = {70}});
    run.forward();
    const std::vector<float> o = run.o, lse = run.lse;
    AttentionShape blind = run.shape;
    const std::vector<std::int32_t> no_keys = {0, 0};
    blind.cu_k = no_keys;
    std::vector<float> work(forward_workspace(run.shape));
    run.o.assign(o.size(), 99);
    for (const bool resume : {false, true}) {
      ForwardUnits units(resume == first_blind ? run.shape : blind,
                         {.q = run.q,
                          .keys = keys_by_token(run.shape, run.k, run.v),
                          .o = run.o,
                          .lse = run.lse,
                          .resume = resume},
                         0);
      while (units.next()) units.run(work);
      if (!resume && first_blind) {
        EXPECT_TRUE(std::ranges::all_of(run.o, [](float x) { return x == 0; }));
        const auto sums = std::span(run.lse).first(run.shape.logarithms());
        EXPECT_TRUE(std::ranges::all_of(sums, [](float x) { return x == kBlind; }));
      }
    }
    EXPECT_EQ(run.o, o);
    EXPECT_EQ(run.lse, lse);
  }
}

TEST(Hybrid, TheUlyssesDegreeIsTheLargestDivisorUpToTheRoot) {
  const std::vector<int> want = {1, 1, 1, 2, 1, 2, 1, 2, 3, 2, 1, 3, 1, 2, 3, 4};
  for (int ranks = 1; ranks <= 16; ++ranks) EXPECT_EQ(ulysses_degree(ranks), want[ranks - 1]);
}

}  // namespace
}  // namespace stowage::kernels::exchange_ring_test
