// Attention over one packed batch on one rank and on several, for comparing the two.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <vector>

#include "kernels/exchange/exchange.h"
#include "kernels/exchange/rank_attention.h"
#include "kernels/ranks/thread_ranks.h"
#include "tests/kernels/numbers.h"

namespace stowage::kernels {

struct Tensors {
  std::vector<float> o, dq, dk, dv;
};

inline bool same_bits(std::span<const float> a, std::span<const float> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

inline double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::abs(double{a[i]} - double{b[i]}));
  }
  return largest;
}

struct Batch {
  AttentionShape shape;
  std::vector<float> q, k, v, upstream;

  explicit Batch(const AttentionShape& s)
      : shape(s),
        q(normal_values(s.q_size(), 1)),
        k(normal_values(s.k_size(), 2)),
        v(normal_values(s.v_size(), 3)),
        upstream(normal_values(s.o_size(), 4)) {}

  Tensors zeros() const {
    return {.o = std::vector<float>(upstream.size()),
            .dq = std::vector<float>(q.size()),
            .dk = std::vector<float>(k.size()),
            .dv = std::vector<float>(v.size())};
  }
  Tensors on_one_rank() const {
    Tensors out = zeros();
    LocalAttention attention(shape);
    const AttentionMemory memory = attention.memory();
    std::vector<float> lse(memory.sums);
    std::vector<float> scratch(std::max(memory.forward_scratch, memory.backward_scratch));
    attention.forward(q, k, v, {.o = out.o, .sums = lse}, scratch);
    attention.backward({.q = q, .k = k, .v = v, .o = out.o, .lse = lse, .upstream = upstream},
                       out.dq, out.dk, out.dv, scratch);
    return out;
  }

  // Writes the part of one rank of `world` to `out`: its rows of token_layout().
  void on_this_rank(Communicator& world, const Exchange& exchange, Tensors& out) const {
    const TokenLayout layout = token_layout(exchange, shape.cu_q, shape.total_q, world.size());
    const std::span<const std::int64_t> rows = layout.of(world.rank());
    const auto take = [&](const std::vector<float>& all) {
      const auto width = static_cast<std::int64_t>(all.size()) / shape.total_q;
      std::vector<float> mine(rows.size() * width);  // padding stays 0
      for (std::size_t i = 0; i < rows.size(); ++i) {
        if (rows[i] >= 0) std::copy_n(&all[rows[i] * width], width, &mine[i * width]);
      }
      return mine;
    };
    const auto give = [&](const std::vector<float>& mine, std::vector<float>& all) {
      const auto width = static_cast<std::int64_t>(all.size()) / shape.total_q;
      for (std::size_t i = 0; i < rows.size(); ++i) {
        if (rows[i] >= 0) std::copy_n(&mine[i * width], width, &all[rows[i] * width]);
      }
    };
    const std::vector<float> my_q = take(q), my_k = take(k), my_v = take(v), up = take(upstream);
    std::vector<float> o(up.size(), 99), dq(my_q.size(), 99);
    std::vector<float> dk(my_k.size(), 99), dv(my_v.size(), 99);
    RankAttention attention(world, exchange, shape);
    const AttentionMemory memory = attention.stage().memory();
    std::vector<float> sums(memory.sums);
    std::vector<float> scratch(std::max(memory.forward_scratch, memory.backward_scratch));
    attention.stage().forward(my_q, my_k, my_v, {.o = o, .sums = sums}, scratch);
    attention.stage().backward(
        {.q = my_q, .k = my_k, .v = my_v, .o = o, .lse = sums, .upstream = up}, dq, dk, dv,
        scratch);
    give(o, out.o), give(dq, out.dq), give(dk, out.dk), give(dv, out.dv);
  }

  Tensors on_ranks(int ranks, ExchangeKind kind) const {
    Tensors out = zeros();
    const auto error =
        run_ranks(ranks, [&](Communicator& world) { on_this_rank(world, {.kind = kind}, out); });
    EXPECT_FALSE(error) << error->message;
    return out;
  }
};

}  // namespace stowage::kernels
