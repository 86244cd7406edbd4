#include "kernels/block/chunked_block.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "kernels/block/block.h"
#include "kernels/exchange/retained_attention.h"
#include "kernels/exchange/ulysses.h"

namespace stowage::kernels {
// The activations of one chunk, from its forward pass to its backward pass.
struct ChunkedBlock::Pass {
  UlyssesAttention attention;
  BlockPass block;

  // `retained` is null for a chunk of whole sequences.
  Pass(Communicator& world, const BlockShape& shape, const Part& part,
       std::optional<RetainedKeys>* retained, std::int64_t length, std::int64_t before)
      : attention(world, attention_shape(shape, part.tokens, part.cu_seqlens),
                  [=](const AttentionShape& own) -> std::unique_ptr<AttentionStage> {
                    constexpr auto kMode = KvGradients::per_query_head;
                    if (retained == nullptr) return std::make_unique<LocalAttention>(own, kMode);
                    if (!*retained) retained->emplace(length, own, kMode);
                    return std::make_unique<RetainedAttention>(**retained, own, before);
                  }),
        block(shape, part.positions, attention) {}
};

ChunkedBlock::ChunkedBlock(Communicator& world, const BlockShape& block, const Exchange& exchange,
                           std::span<const std::int32_t> cu_seqlens, std::int64_t tokens)
    : world_(world), block_(block), retained_(exchange.retained) {
  for (const Chunk& chunk : batch_chunks(exchange, cu_seqlens)) {
    Part part{.cu_seqlens = {0}, .follows = chunk.index > 0};
    std::vector<std::int32_t> positions;
    for (const ChunkPiece& piece : chunk.pieces) {
      for (Tokens at = piece.begin; at < piece.end; ++at) {
        positions.push_back(static_cast<std::int32_t>(at));
      }
      part.cu_seqlens.push_back(static_cast<std::int32_t>(positions.size()));
    }
    add(std::move(part), positions);
  }
  const std::vector<std::int32_t> slack(tokens - cu_seqlens.back());
  if (!slack.empty()) add({.cu_seqlens = {0}}, slack);
}

void ChunkedBlock::add(Part part, std::span<const std::int32_t> positions) {
  part.tokens = static_cast<std::int64_t>(positions.size());
  const std::vector<std::int64_t> split = even_split(part.tokens, world_.size());
  const std::int64_t first = split[world_.rank()];
  part.begin = parts_.empty() ? 0 : parts_.back().begin + parts_.back().count;
  part.count = split[world_.rank() + 1] - first;
  part.positions.assign(positions.begin() + first, positions.begin() + first + part.count);
  parts_.push_back(std::move(part));
}

std::vector<ChunkedBlock::Part>::const_iterator ChunkedBlock::end_of_sequence(
    std::vector<Part>::const_iterator first) const {
  return std::find_if(first + 1, parts_.end(), [](const Part& part) { return !part.follows; });
}

void ChunkedBlock::run(const BlockWeights<float>& weights, const BlockRows& rows,
                       BlockWeights<float>& gradient) const {
  const std::int64_t width = block_.hidden;
  for (auto first = parts_.begin(); first != parts_.end();) {
    const auto last = end_of_sequence(first);
    const std::int64_t count = last - first;
    std::vector<std::int64_t> before = {0};  // number of tokens of the sequence before each chunk
    for (auto part = first; part != last; ++part) before.push_back(before.back() + part->tokens);
    std::optional<RetainedKeys> retained;
    std::vector<std::unique_ptr<Pass>> passes(count);
    const auto forward = [&](std::int64_t c) {
      const Part& part = first[c];
      passes[c] = std::make_unique<Pass>(world_, block_, part, count > 1 ? &retained : nullptr,
                                         before.back(), before[c]);
      passes[c]->block.forward(weights, rows.x.subspan(part.begin * width, part.count * width),
                               rows.y.subspan(part.begin * width, part.count * width));
    };
    for (std::int64_t c = 0; c < count; ++c) {
      forward(c);
      if (c + retained_ < count) passes[c].reset();
    }
    for (std::int64_t c = count - 1; c >= 0; --c) {
      if (!passes[c]) forward(c);
      const Part& part = first[c];
      passes[c]->block.backward(weights,
                                rows.upstream.subspan(part.begin * width, part.count * width),
                                rows.dx.subspan(part.begin * width, part.count * width), gradient);
      passes[c].reset();
    }
    first = last;
  }
}

}  // namespace stowage::kernels
