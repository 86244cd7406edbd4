// The kinds of attention beside the plain causal one: sliding windows, values of another width than
// keys, soft caps and sinks, alone and together. Each is compared with the double reference, on
// threads, in chunks and on ranks.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "kernels/attention/reference.h"
#include "kernels/block/relative_error.h"
#include "kernels/threads/workers.h"
#include "tests/kernels/attention_arrays.h"
#include "tests/kernels/attention_batch.h"
#include "tests/long_run.h"

namespace stowage::kernels::attention_variants_test {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

void expect_close(const AttentionCase& c) {
  AttentionArrays run(c);
  ASSERT_EQ(check(run.shape), std::vector<std::string>());
  run.forward();
  run.backward();
  const auto qd = widen(run.q), kd = widen(run.k), vd = widen(run.v), ud = widen(run.upstream);
  const AttentionOutput out = reference_forward(run.shape, qd, kd, vd);
  const AttentionGradients grad = reference_backward(run.shape, qd, kd, vd, ud);
  const bool peaked = c.peak > 1;
  EXPECT_LE(relative_l2(run.o, out.o), peaked ? 5e-6 : 2e-6);
  EXPECT_LE(relative_l2(run.dq, grad.dq), peaked ? 2e-5 : 5e-6);
  EXPECT_LE(relative_l2(run.dk, grad.dk), peaked ? 2e-5 : 5e-6);
  EXPECT_LE(relative_l2(run.dv, grad.dv), peaked ? 2e-5 : 5e-6);
  for (std::size_t i = 0; i < out.lse.size(); ++i) {
    if (std::isinf(out.lse[i])) {
      ASSERT_EQ(run.lse[i], -kInf);
    } else {
      ASSERT_LE(std::abs(run.lse[i] - out.lse[i]),
                (peaked ? 8e-6 : 3e-6) * std::max(1.0, std::abs(out.lse[i])));
    }
  }
  if (c.sinks) {
    std::vector<double> sinks(run.sinks.size());
    sink_gradients(run.shape, run.backward_input(), sinks);
    for (std::size_t h = 0; h < sinks.size(); ++h) {
      EXPECT_NEAR(sinks[h], grad.sinks[h], 2e-5 * std::max(1.0, std::abs(grad.sinks[h])));
    }
  }
}

int any_of(std::mt19937_64& random, std::initializer_list<int> values) {
  return *(values.begin() + random() % values.size());
}

// A random pack: with chunks and retained keys, or with queries that see no key, in every second.
AttentionCase random_case(std::mt19937_64& random, int longest) {
  const int kv_heads = any_of(random, {1, 2});
  AttentionCase c{.heads = kv_heads * any_of(random, {1, 2, 3}),
                  .kv_heads = kv_heads,
                  .dim = any_of(random, {8, 16, 24, 64, 80, 130, 192}),
                  .slack = any_of(random, {0, 3}),
                  .peak = any_of(random, {1, 1, 8}) * 1.0f,
                  .value_dim = any_of(random, {0, 5, 16, 32, 128}),
                  .window = any_of(random, {0, 1, 2, 7, 16, 33, 64, 100, 129, 1000}),
                  .soft_cap = any_of(random, {0, 0, 2, 30}) * 1.0,
                  .sinks = random() % 3 == 0};
  const bool retained = random() % 2 == 0;
  for (std::uint64_t left = 1 + random() % 4; left > 0; --left) {
    c.lq.push_back(static_cast<int>(random() % static_cast<std::uint64_t>(longest)));
    if (retained) c.lk.push_back(static_cast<int>(random() % static_cast<std::uint64_t>(longest)));
  }
  return c;
}

std::string described(const AttentionCase& c) {
  return "heads " + std::to_string(c.heads) + '/' + std::to_string(c.kv_heads) + ", dim " +
         std::to_string(c.dim) + ", value_dim " + std::to_string(c.value_dim) + ", window " +
         std::to_string(c.window) + ", soft_cap " + std::to_string(c.soft_cap) + ", sinks " +
         std::to_string(c.sinks) + ", peak " + std::to_string(c.peak) + ", lq " +
         testing::PrintToString(c.lq) + ", lk " + testing::PrintToString(c.lk);
}

TEST(AttentionVariants, RandomPacks) {
  std::mt19937_64 random(17);
  for (int trial = 0; trial < (kSanitized ? 8 : in_long_run(60, 300)); ++trial) {
    const AttentionCase c = random_case(random, kSanitized ? 60 : 330);
    SCOPED_TRACE(testing::Message() << "trial " << trial << ": " << described(c));
    expect_close(c);
  }
}

// Every window around the edges of vectors, groups of keys and tiles.
TEST(AttentionVariants, EveryWindow) {
  for (const int window : {1, 2, 5, 6, 7, 11, 12, 13, 15, 16, 17, 63, 64, 65, 127, 128, 129, 199}) {
    SCOPED_TRACE(window);
    expect_close({.heads = 1, .kv_heads = 1, .dim = 16, .lq = {200, 40}, .window = window});
    expect_close(
        {.heads = 2, .kv_heads = 1, .dim = 16, .lq = {5, 40}, .lk = {300, 150}, .window = window});
  }
}

TEST(AttentionVariants, AWindowOfOneKeyReturnsItsValue) {
  AttentionArrays run({.heads = 1, .kv_heads = 1, .dim = 8, .lq = {50}, .window = 1});
  run.forward();
  EXPECT_EQ(run.o, run.v);
}

TEST(AttentionVariants, AWindowThatHidesNothingKeepsTheBits) {
  AttentionArrays all({.heads = 2, .kv_heads = 1, .dim = 24, .lq = {200, 7}});
  AttentionArrays window({.heads = 2, .kv_heads = 1, .dim = 24, .lq = {200, 7}, .window = 200});
  for (AttentionArrays* run : {&all, &window}) {
    run->forward();
    run->backward();
  }
  EXPECT_EQ(all.o, window.o);
  EXPECT_EQ(all.lse, window.lse);
  EXPECT_EQ(all.dq, window.dq);
  EXPECT_EQ(all.dk, window.dk);
  EXPECT_EQ(all.dv, window.dv);
}

TEST(AttentionVariants, ThreadsDoNotShow) {
  std::mt19937_64 random(5);
  for (int trial = 0; trial < (kSanitized ? 3 : in_long_run(12, 60)); ++trial) {
    const AttentionCase c = random_case(random, kSanitized ? 100 : 700);
    SCOPED_TRACE(described(c));
    AttentionArrays one(c), two(c);
    one.forward();
    one.backward();
    Workers workers(2);
    const WorkersScope scope(workers);
    two.forward();
    two.backward();
    EXPECT_EQ(one.o, two.o);
    EXPECT_EQ(one.lse, two.lse);
    EXPECT_EQ(one.dq, two.dq);
    EXPECT_EQ(one.dk, two.dk);
    EXPECT_EQ(one.dv, two.dv);
  }
}

// A chunk of queries against all keys before has the bits of the whole sequence.
TEST(AttentionVariants, AChunkHasTheBitsOfTheWholeSequence) {
  for (const int window : {3, 40, 100, 140}) {
    const AttentionCase c{
        .heads = 2, .kv_heads = 1, .dim = 24, .lq = {300}, .window = window, .soft_cap = 20};
    AttentionArrays whole(c);
    whole.forward();
    whole.backward();
    std::size_t row = 0;
    for (const int chunk : {126, 8, 4, 7, 70, 85}) {
      SCOPED_TRACE(testing::Message() << "window " << window << ", chunk at " << row);
      AttentionCase of_chunk = c;
      of_chunk.lq = {chunk};
      of_chunk.lk = {static_cast<int>(row) + chunk};
      AttentionArrays part(of_chunk);
      const std::size_t n = static_cast<std::size_t>(chunk), q = 2 * 24;
      std::copy_n(whole.q.begin() + row * q, n * q, part.q.begin());
      std::copy_n(whole.upstream.begin() + row * q, n * q, part.upstream.begin());
      std::copy_n(whole.k.begin(), part.k.size(), part.k.begin());
      std::copy_n(whole.v.begin(), part.v.size(), part.v.begin());
      part.forward();
      part.backward();
      EXPECT_TRUE(std::equal(part.o.begin(), part.o.end(), whole.o.begin() + row * q));
      EXPECT_TRUE(std::equal(part.dq.begin(), part.dq.end(), whole.dq.begin() + row * q));
      row += n;
    }
  }
}

// On ranks: Ulysses to the bit, rings to rounding.
TEST(AttentionVariants, RanksEqualOneRank) {
  std::mt19937_64 random(23);
  for (int trial = 0; trial < (kSanitized ? 2 : in_long_run(12, 60)); ++trial) {
    AttentionCase c = random_case(random, kSanitized ? 40 : 200);
    c.lk.clear();
    c.peak = 1;
    const std::vector<std::int32_t> cu = prefix_sums(c.lq);
    const std::vector<float> sinks = normal_values(c.sinks ? c.heads : 0, 5);
    const Batch batch({.total_q = cu.back() + c.slack,
                       .total_k = cu.back() + c.slack,
                       .heads = c.heads,
                       .kv_heads = c.kv_heads,
                       .head_dim = c.dim,
                       .cu_q = cu,
                       .cu_k = cu,
                       .value_dim = c.value_dim,
                       .window = c.window,
                       .soft_cap = c.soft_cap,
                       .sinks = sinks});
    const Tensors one = batch.on_one_rank();
    for (const int ranks : {2, 3, 4}) {
      SCOPED_TRACE(testing::Message() << ranks << " ranks, " << described(c));
      const Tensors ulysses = batch.on_ranks(ranks, ExchangeKind::ulysses);
      EXPECT_TRUE(same_bits(one.o, ulysses.o));
      EXPECT_TRUE(same_bits(one.dq, ulysses.dq));
      EXPECT_TRUE(same_bits(one.dk, ulysses.dk));
      EXPECT_TRUE(same_bits(one.dv, ulysses.dv));
      for (const ExchangeKind kind :
           {ExchangeKind::ring, ExchangeKind::zigzag, ExchangeKind::hybrid}) {
        SCOPED_TRACE(kExchangeNames[static_cast<std::size_t>(kind)]);
        const Tensors many = batch.on_ranks(ranks, kind);
        EXPECT_LE(relative_l2(many.o, widen(one.o)), 1e-6);
        EXPECT_LE(largest_difference(many.dq, one.dq), 3e-5);
        EXPECT_LE(largest_difference(many.dk, one.dk), 3e-5);
        EXPECT_LE(largest_difference(many.dv, one.dv), 3e-5);
      }
    }
  }
}

// The reference itself: its gradients against central differences of its forward pass.
TEST(AttentionVariants, TheReferenceMatchesFiniteDifferences) {
  const std::vector<std::int32_t> cu_q = {0, 3, 3, 7}, cu_k = {0, 5, 6, 9};
  std::vector<float> sinks = {0.5f, -1, 2, 0.25f};
  const AttentionShape shape{.total_q = 8,
                             .total_k = 9,
                             .heads = 4,
                             .kv_heads = 2,
                             .head_dim = 6,
                             .cu_q = cu_q,
                             .cu_k = cu_k,
                             .value_dim = 3,
                             .window = 2,
                             .soft_cap = 1.5,
                             .sinks = sinks};
  std::vector<double> q = widen(normal_values(shape.q_size(), 1));
  std::vector<double> k = widen(normal_values(shape.k_size(), 2));
  std::vector<double> v = widen(normal_values(shape.v_size(), 3));
  const std::vector<double> upstream = widen(normal_values(shape.o_size(), 4));
  const auto loss = [&] {
    const AttentionOutput out = reference_forward(shape, q, k, v);
    double sum = 0;
    for (std::size_t i = 0; i < upstream.size(); ++i) sum += out.o[i] * upstream[i];
    return sum;
  };
  const AttentionGradients grad = reference_backward(shape, q, k, v, upstream);
  const auto compare = [&](auto& x, const std::vector<double>& want, double step, double error) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto was = x[i];
      using Value = std::remove_cvref_t<decltype(was)>;
      x[i] = static_cast<Value>(was + step);
      const double above = loss();
      x[i] = static_cast<Value>(was - step);
      const double below = loss();
      x[i] = was;
      EXPECT_NEAR((above - below) / (2 * step), want[i], error) << i;
    }
  };
  compare(q, grad.dq, 1e-5, 1e-8);
  compare(k, grad.dk, 1e-5, 1e-8);
  compare(v, grad.dv, 1e-5, 1e-8);
  compare(sinks, grad.sinks, 1.0 / 1024, 1e-5);  // a power of two: the sinks are floats
}

TEST(AttentionVariants, AShapeNamesWhatIsWrong) {
  const std::vector<std::int32_t> cu = {0, 4};
  const AttentionShape good{
      .total_q = 4, .total_k = 4, .heads = 2, .kv_heads = 1, .cu_q = cu, .cu_k = cu};
  const auto problem = [&](auto change) {
    AttentionShape shape = good;
    change(shape);
    const auto problems = check(shape);
    return problems.empty() ? std::string("none") : problems.front();
  };
  EXPECT_EQ(problem([](AttentionShape&) {}), "none");
  EXPECT_EQ(problem([](AttentionShape& s) { s.window = -1; }),
            "window must be at least 0, and 0 without a causal mask, is -1");
  EXPECT_EQ(problem([](AttentionShape& s) { s.window = 3, s.causal = false; }),
            "window must be at least 0, and 0 without a causal mask, is 3");
  EXPECT_EQ(problem([](AttentionShape& s) { s.value_dim = -2; }),
            "value_dim must be at least 0, is -2");
  EXPECT_EQ(problem([](AttentionShape& s) { s.soft_cap = std::nan(""); }),
            "soft_cap must be finite and at least 0, is nan");
  const std::vector<float> one_sink = {1};
  EXPECT_EQ(problem([&](AttentionShape& s) { s.sinks = one_sink; }),
            "sinks must have an entry for each of the 2 heads, has 1");
  const std::vector<std::int64_t> two = {0, 0};
  EXPECT_EQ(problem([&](AttentionShape& s) { s.diagonals = two; }),
            "diagonals must have an entry for each of the 1 sequences, has 2");
}

}  // namespace
}  // namespace stowage::kernels::attention_variants_test
