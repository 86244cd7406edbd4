#include "kernels/exchange/retained_attention.h"

#include <gtest/gtest.h>

#include <memory>

#include "kernels/block/relative_error.h"
#include "tests/kernels/attention_batch.h"

namespace stowage::kernels::exchange_retained_attention_test {
namespace {

// One sequence, chunk by chunk: forward in order, backward in reverse. Every chunk except the last
// repeats its forward pass before its backward pass, as if its activations had been discarded.
Tensors chunk_by_chunk(const Batch& batch, std::int64_t chunk_size) {
  const AttentionShape& shape = batch.shape;
  Tensors out = batch.zeros();
  RetainedKeys retained(shape.total_q, shape, KvGradients::per_kv_head);
  std::vector<std::unique_ptr<RetainedAttention>> chunks;
  std::vector<std::vector<float>> sums;
  const auto part = [&](auto& all, std::int64_t begin, std::int64_t count) {
    const auto width = static_cast<std::int64_t>(all.size()) / shape.total_q;
    return std::span(all).subspan(begin * width, count * width);
  };
  const auto forward = [&](std::size_t c, std::int64_t begin, std::int64_t count) {
    std::vector<float> scratch(chunks[c]->memory().forward_scratch);
    chunks[c]->forward(part(batch.q, begin, count), part(batch.k, begin, count),
                       part(batch.v, begin, count),
                       {.o = part(out.o, begin, count), .sums = sums[c]}, scratch);
  };
  for (std::int64_t begin = 0; begin < shape.total_q; begin += chunk_size) {
    AttentionShape chunk = shape;
    chunk.total_q = std::min(chunk_size, shape.total_q - begin);
    chunks.push_back(std::make_unique<RetainedAttention>(retained, chunk, begin));
    sums.emplace_back(chunks.back()->memory().sums);
    forward(chunks.size() - 1, begin, chunk.total_q);
  }
  for (std::size_t c = chunks.size(); c-- > 0;) {
    const std::int64_t begin = static_cast<std::int64_t>(c) * chunk_size;
    const std::int64_t count = std::min(chunk_size, shape.total_q - begin);
    if (c + 1 < chunks.size()) forward(c, begin, count);
    std::vector<float> scratch(chunks[c]->memory().backward_scratch);
    chunks[c]->backward({.q = part(batch.q, begin, count),
                         .k = part(batch.k, begin, count),
                         .v = part(batch.v, begin, count),
                         .o = part(out.o, begin, count),
                         .lse = sums[c],
                         .upstream = part(batch.upstream, begin, count)},
                        part(out.dq, begin, count), part(out.dk, begin, count),
                        part(out.dv, begin, count), scratch);
  }
  return out;
}

TEST(RetainedAttention, OutputAndQueryGradientHaveTheBitsOfTheWholeSequence) {
  struct Case {
    int length, heads, kv_heads, dim;
    std::vector<std::int64_t> chunks;
  };
  const std::vector<std::int64_t> any = {1, 7, 48, 64, 65, 100, 128, 500};
  for (const Case& c : std::vector<Case>{{300, 4, 2, 32, any},
                                         {129, 4, 2, 32, any},
                                         {257, 8, 1, 20, {64, 100}},
                                         {257, 1, 1, 80, {100, 128}},
                                         {1000, 2, 2, 64, {192, 768}}}) {
    const std::vector<std::int32_t> cu = {0, c.length};
    const Batch batch({.total_q = c.length,
                       .total_k = c.length,
                       .heads = c.heads,
                       .kv_heads = c.kv_heads,
                       .head_dim = c.dim,
                       .cu_q = cu,
                       .cu_k = cu});
    const Tensors whole = batch.on_one_rank();
    for (const std::int64_t chunk : c.chunks) {
      SCOPED_TRACE(testing::Message() << c.length << " tokens of " << c.heads << '/' << c.kv_heads
                                      << " heads of " << c.dim << " in chunks of " << chunk);
      const Tensors chunks = chunk_by_chunk(batch, chunk);
      EXPECT_TRUE(same_bits(whole.o, chunks.o));
      EXPECT_TRUE(same_bits(whole.dq, chunks.dq));
      EXPECT_LE(relative_l2(chunks.dk, widen(whole.dk)), 1e-6);
      EXPECT_LE(relative_l2(chunks.dv, widen(whole.dv)), 1e-6);
      EXPECT_LE(largest_difference(chunks.dk, whole.dk), 3e-5);
    }
  }
}

}  // namespace
}  // namespace stowage::kernels::exchange_retained_attention_test
