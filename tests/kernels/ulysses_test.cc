#include "kernels/ulysses.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "kernels/thread_ranks.h"
#include "numbers.h"

namespace stowage::kernels {
namespace {

struct Tensors {
  std::vector<float> o, dq, dk, dv;
};

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

struct Batch {
  AttentionShape shape;
  std::vector<float> q, k, v, upstream;

  explicit Batch(const AttentionShape& s)
      : shape(s),
        q(normal_values(s.q_size(), 1)),
        k(normal_values(s.k_size(), 2)),
        v(normal_values(s.k_size(), 3)),
        upstream(normal_values(s.q_size(), 4)) {}

  Tensors zeros() const {
    return {.o = std::vector<float>(q.size()),
            .dq = std::vector<float>(q.size()),
            .dk = std::vector<float>(k.size()),
            .dv = std::vector<float>(k.size())};
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
  Tensors on_ranks(int ranks) const {
    Tensors out = zeros();
    const std::vector<std::int64_t> split = even_split(shape.total_q, ranks);
    const auto error = run_ranks(ranks, [&](Communicator& world) {
      const std::int64_t begin = split[world.rank()], count = split[world.rank() + 1] - begin;
      const auto slice = [&](auto& array) {
        const std::int64_t width = static_cast<std::int64_t>(array.size()) / shape.total_q;
        return std::span(array).subspan(begin * width, count * width);
      };
      UlyssesAttention attention(world, shape);
      attention.forward(slice(q), slice(k), slice(v), {.o = slice(out.o), .sums = {}}, {});
      AttentionBackwardInput input;
      input.upstream = slice(upstream);
      attention.backward(input, slice(out.dq), slice(out.dk), slice(out.dv), {});
    });
    EXPECT_FALSE(error) << error->message;
    return out;
  }
};

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
        const Tensors many = batch.on_ranks(ranks);
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
  EXPECT_TRUE(same_bits(batch.on_one_rank().dk, batch.on_ranks(8).dk));
  EXPECT_TRUE(same_bits(batch.on_one_rank().o, batch.on_ranks(8).o));
}

}  // namespace
}  // namespace stowage::kernels
