// The head of a model and its loss: the cross entropy of each token's target, chunk by chunk.
//
//   loss = sum over tokens of log(sum_w exp(z_w)) - z_target,   z = y W,   W (hidden, vocabulary)
//
// Only the logits of one chunk of tokens are stored at a time, and their gradient overwrites them.
// Ranks may share W, each with some columns (vocabulary parallelism of Megatron-LM, arXiv
// 1909.08053). They exchange maxima and sums of each token, and the gradient of y.
//
//   const HeadPart part{.hidden = h, .first = 0, .columns = vocabulary, .peers = nullptr};
//   for (...) loss += head_chunk(part, weights, {.y = y, .targets = targets}, logits, dy, gradient);
//
// Thread safety: functions of their arguments alone; all ranks of `peers` call the same.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/ranks/communicator.h"

namespace stowage::kernels {

// The columns of W on a rank.
struct HeadPart {
  int hidden = 1;
  std::int64_t first = 0;
  std::int64_t columns = 1;
  Communicator* peers = nullptr;  // null: this rank has all columns
};

struct HeadTokens {
  std::span<const float> y;  // (tokens, hidden)
  std::span<const std::int32_t> targets;
};

// Returns the loss of some tokens, writes dy (tokens, hidden) and adds to `gradient` (hidden,
// columns). `weights` is (hidden, columns); `logits` has room for tokens x columns.
double head_chunk(const HeadPart& part, std::span<const float> weights, const HeadTokens& tokens,
                  std::span<float> logits, std::span<float> dy, std::span<float> gradient);

// Returns a reproducible matrix (hidden, vocabulary) of variance 1 / hidden.
std::vector<float> synthetic_head(int hidden, std::int64_t vocabulary, std::uint64_t seed);

// Returns the targets of tokens [first, first + count) of a sequence.
std::vector<std::int32_t> synthetic_targets(std::uint64_t seed, std::int64_t sequence,
                                            std::int64_t first, std::int64_t count,
                                            std::int64_t vocabulary);

}  // namespace stowage::kernels
