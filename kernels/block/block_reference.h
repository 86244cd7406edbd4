// The transformer block in double precision, one token and one formula at a time.
//
// Written apart from block.cc: it shares the shape, the order of the weights and nothing else. Its
// gradients are themselves checked against finite differences of its own forward pass.
//
//   const std::vector<std::int32_t> alone = {0, length};
//   BlockResult truth = block_reference(shape, widen(weights), alone, x, upstream);
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/block/block_weights.h"

namespace stowage::kernels {

struct BlockResult {
  std::vector<double> y;   // (tokens, hidden)
  std::vector<double> dx;  // (tokens, hidden)
  BlockWeights<double> gradient;
};

// The output of a packed batch x (tokens, hidden), and the gradient of sum(y * upstream); rows
// beyond cu_seqlens.back() see no other token.
BlockResult block_reference(const BlockShape& shape, const BlockWeights<double>& weights,
                            std::span<const std::int32_t> cu_seqlens, std::span<const double> x,
                            std::span<const double> upstream);

// FP32 weights as doubles, exactly.
BlockWeights<double> widen(const BlockWeights<float>& weights);

}  // namespace stowage::kernels
