// Attention in FP32 against the double reference and against the simplest FP32 implementation, and
// equalities that hold bit for bit. The test runs once for each instruction set level
// (CMakeLists.txt).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>

#include "kernels/attention/attention_units.h"
#include "kernels/attention/reference.h"
#include "kernels/block/relative_error.h"
#include "kernels/threads/workers.h"
#include "tests/kernels/attention_arrays.h"
#include "tests/kernels/lse_bound.h"
#include "tests/kernels/plain_attention.h"
#include "tests/long_run.h"

namespace stowage::kernels::attention_numerics_test {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
const std::vector<int> kEdges = {0, 1, 2, 31, 32, 33, 63, 64, 65, 127, 128, 129};
const std::vector<int> kDims = {16, 32, 64, 80, 128, 256};

// Tolerances of docs/project/execution.md. The limit of twice the plain run's error applies if
// there are enough data, so that an error is more than a single rounding.
void expect_close(const AttentionCase& c) {
  AttentionArrays run(c);
  run.forward();
  run.backward();
  const bool peaked = c.peak > 1;
  const auto qd = widen(run.q), kd = widen(run.k), vd = widen(run.v), ud = widen(run.upstream);
  const AttentionOutput out = reference_forward(run.shape, qd, kd, vd);
  const AttentionGradients grad = reference_backward(run.shape, qd, kd, vd, ud);
  const PlainAttention plain = plain_attention(run.shape, run.q, run.k, run.v, run.upstream);
  const auto check_tensor = [&](const char* name, const std::vector<float>& have,
                                const std::vector<double>& want, const std::vector<float>& simple,
                                double tolerance) {
    const double error = relative_l2(have, want);
    EXPECT_LE(error, tolerance) << name;
    if (run.shape.total_q >= 64) {
      EXPECT_LE(error, 2 * relative_l2(simple, want)) << name << " against plain FP32";
    }
  };
  check_tensor("o", run.o, out.o, plain.o, peaked ? 5e-6 : 2e-6);
  check_tensor("dq", run.dq, grad.dq, plain.dq, peaked ? 2e-5 : 5e-6);
  check_tensor("dk", run.dk, grad.dk, plain.dk, peaked ? 2e-5 : 5e-6);
  check_tensor("dv", run.dv, grad.dv, plain.dv, peaked ? 2e-5 : 5e-6);
  // The logarithms: within their bound, and in the mean square as good as those of the plain run.
  double squares = 0, plain_squares = 0;
  for (std::size_t b = 0; b + 1 < run.cu_q.size(); ++b) {
    for (std::int64_t i = 0; i < run.cu_q[b + 1] - run.cu_q[b]; ++i) {
      for (int h = 0; h < c.heads; ++h) {
        const std::size_t at = static_cast<std::size_t>(h * run.shape.total_q + run.cu_q[b] + i);
        const double want = out.lse[at];
        if (std::isinf(want)) {
          EXPECT_EQ(run.lse[at], -kInf);
          continue;
        }
        const double error = run.lse[at] - want;
        ASSERT_LE(std::abs(error), lse_bound(run.shape, qd, kd, b, i, h, want));
        squares += error * error;
        plain_squares += (plain.lse[at] - want) * (plain.lse[at] - want);
      }
    }
  }
  if (run.shape.total_q >= 64) {
    EXPECT_LE(squares, 4 * plain_squares);
  }
}

TEST(AttentionNumerics, EveryHeadDimensionAtEveryEdge) {
  for (const int dim : kDims) {
    for (const float peak : {1.0f, 8.0f}) {
      SCOPED_TRACE(testing::Message() << "dim " << dim << " peak " << peak);
      expect_close({.heads = 1, .kv_heads = 1, .dim = dim, .lq = kEdges, .peak = peak});
    }
  }
}

TEST(AttentionNumerics, EveryEdgeAlone) {
  for (const int length : kEdges) {
    SCOPED_TRACE(length);
    expect_close({.dim = 64, .lq = {length}});
  }
}

TEST(AttentionNumerics, GroupedQueries) {
  for (const int group : {1, 4, 8}) {
    for (const int dim : kDims) {
      if (kSanitized && dim != 16 && dim != 80) continue;  // in one panel and more
      for (const float peak : {1.0f, 8.0f}) {
        SCOPED_TRACE(testing::Message() << "group " << group << " dim " << dim << " peak " << peak);
        const int kv_heads = group == 8 ? 1 : 2;
        expect_close({.heads = group * kv_heads,
                      .kv_heads = kv_heads,
                      .dim = dim,
                      .lq = {70, 33, 128},
                      .peak = peak});
      }
    }
  }
}

TEST(AttentionNumerics, LongSequences) {
  if (kSanitized) GTEST_SKIP() << "too long under a sanitizer";
  const bool all = in_long_run(0, 1) != 0;
  for (const int length : {1000, all ? 4096 : 2048}) {
    for (const int dim : kDims) {
      for (const float peak : {1.0f, 8.0f}) {
        const bool taken = length == 1000 ? (dim % 64 == 0) == (peak == 1) : dim == 32 && peak == 1;
        if (!all && !taken) continue;
        SCOPED_TRACE(testing::Message() << length << " tokens, dim " << dim << ", peak " << peak);
        expect_close({.heads = 1, .kv_heads = 1, .dim = dim, .lq = {length}, .peak = peak});
      }
    }
  }
}

TEST(AttentionNumerics, RandomPacks) {
  std::mt19937_64 random(11);
  for (int trial = 0; trial < (kSanitized ? 4 : 20); ++trial) {
    AttentionCase c{.heads = 4,
                    .kv_heads = 2,
                    .dim = 8 * (1 + static_cast<int>(random() % 12)),
                    .slack = static_cast<int>(random() % 4),
                    .peak = trial % 2 == 0 ? 1.0f : 8.0f};
    for (std::uint64_t left = random() % 6; left > 0; --left) {
      c.lq.push_back(static_cast<int>(random() % 200));
      c.lk.push_back(static_cast<int>(random() % 200));
    }
    SCOPED_TRACE(trial);
    expect_close(c);
  }
}

// The same bytes in `count` elements of two arrays.
template <class Array>
bool same_bits(const Array& a, std::size_t a_from, const Array& b, std::size_t b_from,
               std::size_t count) {
  return count == 0 ||  // an empty array has no address to compare
         std::memcmp(a.data() + a_from, b.data() + b_from, count * sizeof(a[0])) == 0;
}

TEST(AttentionNumerics, ASequenceHasTheSameGradientsAloneAndPacked) {
  const std::vector<int> lengths = {37, 100, 0, 200, 64};
  for (const int dim : {24, 64, 80}) {
    AttentionArrays packed({.heads = 4, .kv_heads = 2, .dim = dim, .lq = lengths});
    packed.forward();
    packed.backward();
    std::size_t row = 0;
    for (const int length : lengths) {
      SCOPED_TRACE(testing::Message() << "dim " << dim << " length " << length);
      const std::size_t n = static_cast<std::size_t>(length), q = 4 * dim, k = 2 * dim;
      AttentionArrays alone({.heads = 4, .kv_heads = 2, .dim = dim, .lq = {length}});
      std::copy_n(packed.q.begin() + row * q, n * q, alone.q.begin());
      std::copy_n(packed.upstream.begin() + row * q, n * q, alone.upstream.begin());
      std::copy_n(packed.k.begin() + row * k, n * k, alone.k.begin());
      std::copy_n(packed.v.begin() + row * k, n * k, alone.v.begin());
      alone.forward();
      alone.backward();
      EXPECT_TRUE(same_bits(alone.o, 0, packed.o, row * q, n * q));
      EXPECT_TRUE(same_bits(alone.dq, 0, packed.dq, row * q, n * q));
      EXPECT_TRUE(same_bits(alone.dk, 0, packed.dk, row * k, n * k));
      EXPECT_TRUE(same_bits(alone.dv, 0, packed.dv, row * k, n * k));
      row += n;
    }
  }
}

// A chunk of queries against the keys up to its own end, as in chunked training. The place of the
// cut must not affect O, LSE or dQ.
TEST(AttentionNumerics, AChunkHasTheBitsOfTheWholeSequence) {
  for (const int dim : {16, 64, 80, 150}) {
    for (const std::vector<int>& chunks : {std::vector<int>{300},
                                           {64, 236},
                                           {1, 299},
                                           {17, 100, 5, 128, 50},
                                           {191, 1, 108},
                                           {126, 8, 4, 7, 115, 9, 2, 3, 26}}) {
      AttentionArrays whole({.heads = 2, .kv_heads = 1, .dim = dim, .lq = {300}});
      whole.forward();
      whole.backward();
      std::size_t row = 0;
      for (const int chunk : chunks) {
        SCOPED_TRACE(testing::Message() << "dim " << dim << " chunk of " << chunk << " at " << row);
        const std::size_t n = static_cast<std::size_t>(chunk), q = 2 * dim;
        const int prefix = static_cast<int>(row);
        AttentionArrays part(
            {.heads = 2, .kv_heads = 1, .dim = dim, .lq = {chunk}, .lk = {prefix + chunk}});
        std::copy_n(whole.q.begin() + row * q, n * q, part.q.begin());
        std::copy_n(whole.upstream.begin() + row * q, n * q, part.upstream.begin());
        std::copy_n(whole.k.begin(), part.k.size(), part.k.begin());
        std::copy_n(whole.v.begin(), part.v.size(), part.v.begin());
        part.forward();
        part.backward();
        EXPECT_TRUE(same_bits(part.o, 0, whole.o, row * q, n * q));
        EXPECT_TRUE(same_bits(part.dq, 0, whole.dq, row * q, n * q));
        for (std::size_t h = 0; h < 2; ++h) {
          EXPECT_TRUE(same_bits(part.lse, h * n, whole.lse, h * 300 + row, n));
        }
        row += n;
      }
    }
  }
}

// A single query in more heads than are computed at a time, compared with all queries together.
TEST(AttentionNumerics, AQueryOfManyHeadsHasTheBitsOfTheWholeSequence) {
  constexpr int kHeads = 20, kDim = 24;
  AttentionArrays whole({.heads = kHeads, .kv_heads = 1, .dim = kDim, .lq = {140}});
  whole.forward();
  for (const int queries : {1, 3, 8}) {
    SCOPED_TRACE(queries);
    AttentionArrays last(
        {.heads = kHeads, .kv_heads = 1, .dim = kDim, .lq = {queries}, .lk = {140}});
    const std::size_t n = static_cast<std::size_t>(queries), row = 140 - n, q = kHeads * kDim;
    std::copy_n(whole.q.begin() + row * q, n * q, last.q.begin());
    last.forward();
    EXPECT_TRUE(same_bits(last.o, 0, whole.o, row * q, n * q));
    for (std::size_t h = 0; h < kHeads; ++h) {
      EXPECT_TRUE(same_bits(last.lse, h * n, whole.lse, h * 140 + row, n));
    }
  }
}

// Two threads can share the backward pass of one long sequence with one kv head.
TEST(AttentionNumerics, ALongSequenceHasAUnitForEachQueryHead) {
  for (const int length : {511, 512}) {
    const AttentionArrays run({.heads = 8, .kv_heads = 1, .dim = 1, .lq = {length}});
    OrderedReduction turns(HeadGroups::most(run.shape));
    BackwardUnits units(run.shape, run.backward_input(), KvGradients::per_kv_head, {}, &turns);
    int count = 0;
    while (units.next()) ++count;
    EXPECT_EQ(count, length == 512 ? 8 : 1);
  }
}

TEST(AttentionNumerics, ThreadsDoNotShow) {
  AttentionArrays one({.heads = 6, .kv_heads = 2, .dim = 32, .lq = {600, 3, 0, 260}, .slack = 2});
  one.forward();
  one.backward();
  for (const int threads : {1, 2, 3, 7}) {
    SCOPED_TRACE(threads);
    AttentionArrays many(one.given);
    Workers workers(threads);
    const WorkersScope scope(workers);
    many.forward();
    many.backward();
    EXPECT_GE(workers.ahead_seconds(), 0);
    EXPECT_EQ(one.o, many.o);
    EXPECT_EQ(one.lse, many.lse);
    EXPECT_EQ(one.dq, many.dq);
    EXPECT_EQ(one.dk, many.dk);
    EXPECT_EQ(one.dv, many.dv);
  }
}

// A query head's results do not depend on the other heads.
TEST(AttentionNumerics, HeadsAreIndependent) {
  constexpr int kDim = 40;
  AttentionArrays all({.heads = 3, .kv_heads = 3, .dim = kDim, .lq = {150, 20}});
  all.forward();
  all.backward();
  for (std::size_t h = 0; h < 3; ++h) {
    AttentionArrays one({.heads = 1, .kv_heads = 1, .dim = kDim, .lq = {150, 20}});
    const auto pick = [&](const std::vector<float>& from, std::vector<float>& to) {
      for (std::size_t t = 0; t < 170; ++t) {
        std::copy_n(from.begin() + (t * 3 + h) * kDim, kDim, to.begin() + t * kDim);
      }
    };
    pick(all.q, one.q);
    pick(all.k, one.k);
    pick(all.v, one.v);
    pick(all.upstream, one.upstream);
    one.forward();
    one.backward();
    std::vector<float> want(one.o.size());
    pick(all.o, want);
    EXPECT_EQ(one.o, want);
    pick(all.dq, want);
    EXPECT_EQ(one.dq, want);
    pick(all.dk, want);
    EXPECT_EQ(one.dk, want);
    pick(all.dv, want);
    EXPECT_EQ(one.dv, want);
  }
}

// Errors summed over several runs.
struct PooledError {
  double ours = 0, plain = 0;
  void add(const std::vector<float>& have, const std::vector<float>& simple,
           const std::vector<double>& want) {
    for (std::size_t i = 0; i < want.size(); ++i) {
      ours += std::abs(have[i] - want[i]);
      plain += std::abs(simple[i] - want[i]);
    }
  }
};

// With logits in the thousands, the exponential of their difference to the LSE needs more digits of
// the LSE than single precision has. The few queries with two keys of nearly equal logits cause all
// of the error. So many short runs are more significant than one long run, and a mean of errors
// more than a mean of squares, which a single query determines (0.3 to 2.3 in 30 sets of 200 runs;
// the mean 0.45 to 1.55).
TEST(AttentionNumerics, LargeLogitsAreAsGoodAsPlainOnes) {
  for (const int dim : in_long_run(0, 1) != 0 ? kDims : std::vector<int>{32, 128}) {
    for (const float deviation : {1000.0f, 10000.0f}) {
      if (kSanitized && deviation == 1000) continue;
      SCOPED_TRACE(testing::Message() << "dim " << dim << " deviation " << deviation);
      PooledError o, dq, dk, dv;
      for (int k = 0; k < in_long_run(200, 400); ++k) {
        AttentionArrays run({.heads = 2, .kv_heads = 1, .dim = dim, .lq = {64}});
        run.q = normal_values(run.shape.q_size(), 100 + 4 * k, deviation);
        run.k = normal_values(run.shape.k_size(), 101 + 4 * k);
        run.v = normal_values(run.shape.k_size(), 102 + 4 * k);
        run.upstream = normal_values(run.shape.q_size(), 103 + 4 * k);
        run.forward();
        run.backward();
        const auto q = widen(run.q), keys = widen(run.k), v = widen(run.v),
                   up = widen(run.upstream);
        const AttentionGradients grad = reference_backward(run.shape, q, keys, v, up);
        const PlainAttention plain = plain_attention(run.shape, run.q, run.k, run.v, run.upstream);
        o.add(run.o, plain.o, reference_forward(run.shape, q, keys, v).o);
        dq.add(run.dq, plain.dq, grad.dq);
        dk.add(run.dk, plain.dk, grad.dk);
        dv.add(run.dv, plain.dv, grad.dv);
      }
      for (const PooledError& error : {o, dq, dk, dv}) EXPECT_LE(error.ours, 2 * error.plain);
    }
  }
}

// Logits far beyond the range of e^x: the running maximum keeps every exponential in range.
TEST(AttentionNumerics, HugeLogitsStayFinite) {
  AttentionArrays run({.heads = 1, .kv_heads = 1, .dim = 16, .lq = {200}, .peak = 4000});
  run.forward();
  run.backward();
  for (const auto* tensor : {&run.o, &run.lse, &run.dq, &run.dk, &run.dv}) {
    EXPECT_TRUE(std::ranges::all_of(*tensor, [](float x) { return std::isfinite(x); }));
  }
}

// A NaN in the keys of a query must not be lost in a maximum or an exponential.
TEST(AttentionNumerics, ANanReachesEveryQueryThatSeesIt) {
  AttentionArrays run({.heads = 1, .kv_heads = 1, .dim = 16, .lq = {200}});
  run.k[100 * 16 + 3] = std::numeric_limits<float>::quiet_NaN();
  run.forward();
  for (std::size_t i = 100; i < 200; ++i) EXPECT_TRUE(std::isnan(run.o[i * 16])) << i;
}

}  // namespace
}  // namespace stowage::kernels::attention_numerics_test
