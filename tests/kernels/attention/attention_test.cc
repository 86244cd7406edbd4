#include "kernels/attention/attention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "kernels/attention/reference.h"
#include "kernels/block/relative_error.h"
#include "tests/kernels/numbers.h"

namespace stowage::kernels::attention_attention_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr float kInf = std::numeric_limits<float>::infinity();

struct Case {
  int heads = 2;
  int kv_heads = 2;
  int dim = 64;
  std::vector<int> lq;
  std::vector<int> lk;  // empty: same as lq
  int slack = 0;        // rows beyond the last sequence
  float peak = 1;       // standard deviation of q: large values make one key win
};

// FP32 results and the double reference.
struct Computed {
  AttentionShape shape;
  std::vector<std::int32_t> cu_q, cu_k;
  std::vector<float> q, k, v, upstream, o, lse, dq, dk, dv;
  AttentionOutput out;
  AttentionGradients grad;

  explicit Computed(const Case& c)
      : cu_q(prefix_sums(c.lq)), cu_k(prefix_sums(c.lk.empty() ? c.lq : c.lk)) {
    shape = {.total_q = cu_q.back() + c.slack,
             .total_k = cu_k.back() + c.slack,
             .heads = c.heads,
             .kv_heads = c.kv_heads,
             .head_dim = c.dim,
             .cu_q = cu_q,
             .cu_k = cu_k};
    EXPECT_THAT(check(shape), IsEmpty());
    q = normal_values(shape.q_size(), 1, c.peak);
    k = normal_values(shape.k_size(), 2);
    v = normal_values(shape.k_size(), 3);
    upstream = normal_values(shape.q_size(), 4);
    // Slack rows, even with NaN, must not affect results; outputs start with arbitrary values.
    const auto poison = [&](std::vector<float>& array, std::int64_t used) {
      std::fill(array.begin() + used, array.end(), std::numeric_limits<float>::quiet_NaN());
    };
    poison(q, std::int64_t{cu_q.back()} * c.heads * c.dim);
    poison(upstream, std::int64_t{cu_q.back()} * c.heads * c.dim);
    poison(k, std::int64_t{cu_k.back()} * c.kv_heads * c.dim);
    poison(v, std::int64_t{cu_k.back()} * c.kv_heads * c.dim);
    o.assign(q.size(), 99);
    dq = o;
    dk.assign(k.size(), 99);
    dv = dk;
    lse.assign(shape.lse_size(), 99);
    std::vector<float> work(std::max(forward_workspace(shape), backward_workspace(shape)));
    attention_forward(shape, q, k, v, o, lse, work);
    attention_backward(shape, {.q = q, .k = k, .v = v, .o = o, .lse = lse, .upstream = upstream},
                       KvGradients::per_kv_head, dq, dk, dv, work);
    const auto qd = widen(q), kd = widen(k), vd = widen(v), ud = widen(upstream);
    out = reference_forward(shape, qd, kd, vd);
    grad = reference_backward(shape, qd, kd, vd, ud);
  }
};

void expect_close(const Case& c) {
  const Computed run(c);
  const bool peaked = c.peak > 1;
  EXPECT_LE(relative_l2(run.o, run.out.o), peaked ? 5e-6 : 2e-6);
  EXPECT_LE(relative_l2(run.dq, run.grad.dq), peaked ? 2e-5 : 5e-6);
  EXPECT_LE(relative_l2(run.dk, run.grad.dk), peaked ? 2e-5 : 5e-6);
  EXPECT_LE(relative_l2(run.dv, run.grad.dv), peaked ? 2e-5 : 5e-6);
  for (std::size_t i = 0; i < run.out.lse.size(); ++i) {
    const double want = run.out.lse[i];
    if (std::isinf(want)) {
      EXPECT_EQ(run.lse[i], -kInf);
    } else {
      // numerics_test.cc has the proven bound; this is the usual size of the error.
      ASSERT_LE(std::abs(run.lse[i] - want),
                (peaked ? 6e-6 : 3e-6) * std::max(1.0, std::abs(want)));
    }
  }
}

TEST(Attention, MatchesTheReferenceForEveryHeadDimension) {
  for (const int dim : {16, 32, 64, 80, 128, 256}) {
    for (const float peak : {1.0f, 8.0f}) {
      SCOPED_TRACE(testing::Message() << "dim " << dim << " peak " << peak);
      expect_close({.dim = dim, .lq = {65, 130, 1, 40}, .peak = peak});
    }
  }
}

TEST(Attention, MatchesTheReferenceForGroupedQueries) {
  for (const int group : {1, 4, 8}) {
    SCOPED_TRACE(group);
    expect_close({.heads = 8, .kv_heads = 8 / group, .dim = 32, .lq = {70, 33, 128}});
  }
}

TEST(Attention, MatchesTheReferenceAtTheEdgesOfTiles) {
  std::vector<int> lengths = {0, 1, 2, 31, 32, 33, 63, 64, 65, 127, 128, 129};
  if (!kSanitized) lengths.push_back(1000);
  for (const int length : lengths) {
    SCOPED_TRACE(length);
    expect_close({.lq = {length}});
  }
}

TEST(Attention, MatchesTheReferenceForRandomPacks) {
  std::mt19937_64 random(5);
  for (int trial = 0; trial < (kSanitized ? 4 : 20); ++trial) {
    Case c{.heads = 4, .kv_heads = 2, .dim = 32, .slack = static_cast<int>(random() % 4)};
    for (std::uint64_t left = random() % 8; left > 0; --left) {
      c.lq.push_back(static_cast<int>(random() % 150));
      c.lk.push_back(static_cast<int>(random() % 150));
    }
    SCOPED_TRACE(trial);
    expect_close(c);
  }
}

TEST(Attention, RetainedKeysAndBlindQueriesFollowTheBottomRightRule) {
  expect_close({.lq = {5, 64}, .lk = {70, 200}});  // chunks with retained keys
  expect_close({.lq = {70, 3}, .lk = {5, 0}});     // queries that see nothing
  const Computed run({.heads = 1, .kv_heads = 1, .dim = 16, .lq = {4}, .lk = {2}});
  EXPECT_EQ(run.lse[0], -kInf);
  EXPECT_EQ(run.lse[1], -kInf);
  EXPECT_TRUE(std::all_of(run.o.begin(), run.o.begin() + 2 * 16, [](float x) { return x == 0; }));
  EXPECT_TRUE(std::all_of(run.dq.begin(), run.dq.begin() + 2 * 16, [](float x) { return x == 0; }));
  EXPECT_FLOAT_EQ(run.o[2 * 16], run.v[0]);  // the third query sees only the first key
}

TEST(Attention, SlackRowsAreNeverReadAndAreWrittenAsZero) {
  const Case c{.heads = 2, .kv_heads = 1, .dim = 16, .lq = {10, 3}, .slack = 5};
  expect_close(c);
  const Computed run(c);
  const auto zero = [](float x) { return x == 0; };
  EXPECT_TRUE(std::all_of(run.o.begin() + 13 * 32, run.o.end(), zero));
  EXPECT_TRUE(std::all_of(run.dq.begin() + 13 * 32, run.dq.end(), zero));
  EXPECT_TRUE(std::all_of(run.dk.begin() + 13 * 16, run.dk.end(), zero));
  EXPECT_TRUE(std::all_of(run.dv.begin() + 13 * 16, run.dv.end(), zero));
  EXPECT_TRUE(std::all_of(run.lse.begin() + 13, run.lse.begin() + 18, zero));
}

TEST(Attention, ASequenceHasTheSameBitsAloneAndPacked) {
  const Computed packed({.heads = 4, .kv_heads = 2, .dim = 24, .lq = {37, 100, 70}});
  const std::int64_t row = 4 * 24;
  const std::vector<std::int32_t> cu = {0, 100};
  const AttentionShape alone{.total_q = 100,
                             .total_k = 100,
                             .heads = 4,
                             .kv_heads = 2,
                             .head_dim = 24,
                             .cu_q = cu,
                             .cu_k = cu};
  std::vector<float> o(alone.q_size()), lse(alone.lse_size()), work(forward_workspace(alone));
  attention_forward(alone, std::span(packed.q).subspan(37 * row, 100 * row),
                    std::span(packed.k).subspan(37 * row / 2, 100 * row / 2),
                    std::span(packed.v).subspan(37 * row / 2, 100 * row / 2), o, lse, work);
  EXPECT_TRUE(std::equal(o.begin(), o.end(), packed.o.begin() + 37 * row));
}

TEST(Attention, ANumberThatIsNotOneStaysInItsSequence) {
  const std::vector<std::int32_t> cu = {0, 70, 140};
  const AttentionShape shape{.total_q = 140,
                             .total_k = 140,
                             .heads = 1,
                             .kv_heads = 1,
                             .head_dim = 16,
                             .cu_q = cu,
                             .cu_k = cu};
  std::vector<float> x = normal_values(shape.q_size(), 1);
  x[69 * 16] = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> o(shape.q_size()), lse(shape.lse_size()), work(forward_workspace(shape));
  attention_forward(shape, x, x, x, o, lse, work);
  EXPECT_TRUE(std::none_of(o.begin() + 70 * 16, o.end(), [](float y) { return std::isnan(y); }));
}

// The reference itself: its gradient against central differences of its forward pass.
TEST(Reference, GradientsMatchFiniteDifferences) {
  const std::vector<std::int32_t> cu_q = {0, 3, 3, 7}, cu_k = {0, 5, 6, 9};
  const AttentionShape shape{.total_q = 8,
                             .total_k = 9,
                             .heads = 4,
                             .kv_heads = 2,
                             .head_dim = 6,
                             .cu_q = cu_q,
                             .cu_k = cu_k};
  std::vector<double> q = widen(normal_values(shape.q_size(), 1));
  std::vector<double> k = widen(normal_values(shape.k_size(), 2));
  std::vector<double> v = widen(normal_values(shape.k_size(), 3));
  const std::vector<double> upstream = widen(normal_values(shape.q_size(), 4));
  const auto loss = [&] {
    const AttentionOutput out = reference_forward(shape, q, k, v);
    double sum = 0;
    for (std::size_t i = 0; i < upstream.size(); ++i) sum += out.o[i] * upstream[i];
    return sum;
  };
  const AttentionGradients grad = reference_backward(shape, q, k, v, upstream);
  const auto compare = [&](std::vector<double>& x, const std::vector<double>& want) {
    constexpr double kStep = 1e-5;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double was = x[i];
      x[i] = was + kStep;
      const double above = loss();
      x[i] = was - kStep;
      const double below = loss();
      x[i] = was;
      EXPECT_NEAR((above - below) / (2 * kStep), want[i], 1e-8) << i;
    }
  };
  compare(q, grad.dq);
  compare(k, grad.dk);
  compare(v, grad.dv);
}

TEST(Reference, TwoKeysByHand) {
  // Logits 0 and ln 3 after scaling by 1: weights 1/4 and 3/4.
  const std::vector<std::int32_t> cu_q = {0, 1}, cu_k = {0, 2};
  const AttentionShape shape{.total_q = 1, .total_k = 2, .head_dim = 1, .cu_q = cu_q, .cu_k = cu_k};
  const std::vector<double> q = {1}, k = {0, std::log(3.0)}, v = {8, 4};
  const AttentionOutput out = reference_forward(shape, q, k, v);
  EXPECT_DOUBLE_EQ(out.o[0], 5);
  EXPECT_DOUBLE_EQ(out.lse[0], std::log(4.0));
}

TEST(AttentionShape, NamesWhatIsWrong) {
  const std::vector<std::int32_t> good = {0, 2, 4}, late = {1, 2, 4}, back = {0, 3, 2},
                                  far = {0, 2, 5}, none = {}, fewer = {0, 4};
  AttentionShape shape{.total_q = 4,
                       .total_k = 4,
                       .heads = 4,
                       .kv_heads = 2,
                       .head_dim = 8,
                       .cu_q = good,
                       .cu_k = good};
  EXPECT_THAT(check(shape), IsEmpty());
  const auto problem = [](const AttentionShape& s) {
    const auto problems = check(s);
    return problems.empty() ? std::string("none") : problems.front();
  };
  const auto with_cu_k = [&](const std::vector<std::int32_t>& cu) {
    AttentionShape s = shape;
    s.cu_k = cu;
    return s;
  };
  EXPECT_EQ(problem(with_cu_k(late)), "cu_k[0] must be 0, is 1");
  EXPECT_EQ(problem(with_cu_k(back)), "cu_k[2] must be at least 3, is 2");
  EXPECT_EQ(problem(with_cu_k(far)), "cu_k must end at or before row 4, ends at 5");
  EXPECT_THAT(problem(with_cu_k(none)), HasSubstr("is empty"));
  EXPECT_THAT(problem(with_cu_k(fewer)), HasSubstr("same number of entries"));
  shape.kv_heads = 3;
  EXPECT_THAT(problem(shape), HasSubstr("heads must be a multiple of kv_heads"));
  shape.kv_heads = 0;
  EXPECT_THAT(problem(shape), HasSubstr("must be positive"));
  shape = {.total_q = 4,
           .total_k = 4,
           .heads = 3,
           .kv_heads = 1,
           .head_dim = 8,
           .cu_q = good,
           .cu_k = good,
           .group_size = 4,
           .group_offset = 2};
  EXPECT_THAT(problem(shape), HasSubstr("the last query head"));
}

}  // namespace
}  // namespace stowage::kernels::attention_attention_test
