#include "kernels/block/chunked_block.h"

#include <gtest/gtest.h>

#include "kernels/block/block.h"
#include "kernels/block/relative_error.h"
#include "tests/kernels/attention_batch.h"

namespace stowage::kernels::block_chunked_block_test {
namespace {

struct Result {
  std::vector<float> y, dx;
  BlockWeights<float> gradient;
};

// A packed batch with two long sequences, three short ones and slack.
struct Packed {
  BlockShape block;
  std::vector<std::int32_t> cu = prefix_sums({70, 9, 0, 33, 100, 5});
  std::int64_t tokens = cu.back() + 2;
  std::vector<float> x = normal_values(tokens * block.hidden, 1);
  std::vector<float> upstream = normal_values(tokens * block.hidden, 2);
  BlockWeights<float> weights = synthetic_weights(block, 3);

  Result at_once() const {
    Result out{.y = std::vector<float>(x.size()),
               .dx = std::vector<float>(x.size()),
               .gradient = zero_weights<float>(block)};
    LocalAttention attention({.total_q = tokens,
                              .total_k = tokens,
                              .heads = block.heads,
                              .kv_heads = block.kv_heads,
                              .head_dim = block.head_dim,
                              .cu_q = cu,
                              .cu_k = cu});
    BlockPass pass(block, sequence_positions(cu, tokens), attention);
    pass.forward(weights, x, out.y);
    pass.backward(weights, upstream, out.dx, out.gradient);
    return out;
  }

  Result by_chunks(int ranks, const Exchange& exchange) const {
    Result out{.y = std::vector<float>(x.size()),
               .dx = std::vector<float>(x.size()),
               .gradient = zero_weights<float>(block)};
    const TokenLayout layout = token_layout(exchange, cu, tokens, ranks);
    const auto error = run_ranks(ranks, [&](Communicator& world) {
      const std::span<const std::int64_t> rows = layout.of(world.rank());
      const std::int64_t width = block.hidden;
      std::vector<float> mine, up;
      for (const std::int64_t row : rows) {
        mine.insert(mine.end(), x.begin() + row * width, x.begin() + (row + 1) * width);
        up.insert(up.end(), upstream.begin() + row * width, upstream.begin() + (row + 1) * width);
      }
      std::vector<float> y(mine.size()), dx(mine.size());
      BlockWeights<float> gradient = zero_weights<float>(block);
      ChunkedBlock(world, block, exchange, cu, tokens)
          .run(weights, {.x = mine, .upstream = up, .y = y, .dx = dx}, gradient);
      for (std::vector<float>* tensor : gradient.tensors()) world.all_reduce(*tensor);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        std::copy_n(&y[i * width], width, &out.y[rows[i] * width]);
        std::copy_n(&dx[i * width], width, &out.dx[rows[i] * width]);
      }
      if (world.rank() == 0) out.gradient = gradient;
    });
    EXPECT_FALSE(error) << error->message;
    return out;
  }
};

TEST(ChunkedBlock, ComputesWhatTheBlockComputesAtOnce) {
  const Packed batch;
  const Result want = batch.at_once();
  for (const int ranks : {1, 3}) {
    for (const Tokens chunk : {0, 10, 25, 200}) {
      SCOPED_TRACE(testing::Message() << ranks << " ranks, chunks of " << chunk);
      const Result have =
          batch.by_chunks(ranks, {.kind = ExchangeKind::chunked, .chunk_size = chunk});
      EXPECT_TRUE(same_bits(have.y, want.y));  // a token's result does not depend on its group
      EXPECT_LE(relative_l2(have.dx, widen(want.dx)), 1e-6);
      for (int t = 0; t < kWeightTensors; ++t) {
        EXPECT_LE(relative_l2(*have.gradient.tensors()[t], widen(*want.gradient.tensors()[t])),
                  1e-6)
            << kWeightNames[t];
      }
    }
  }
}

TEST(ChunkedBlock, RecomputingChangesNoBit) {
  const Packed batch;
  const Result kept =
      batch.by_chunks(2, {.kind = ExchangeKind::chunked, .chunk_size = 16, .retained = 1000});
  for (const std::int64_t retained : {1, 3}) {
    const Result again =
        batch.by_chunks(2, {.kind = ExchangeKind::chunked, .chunk_size = 16, .retained = retained});
    EXPECT_TRUE(same_bits(kept.y, again.y));
    EXPECT_TRUE(same_bits(kept.dx, again.dx));
    for (int t = 0; t < kWeightTensors; ++t) {
      EXPECT_TRUE(same_bits(*kept.gradient.tensors()[t], *again.gradient.tensors()[t]));
    }
  }
}

}  // namespace
}  // namespace stowage::kernels::block_chunked_block_test
