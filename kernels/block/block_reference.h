// The transformer block in double precision, one token and one formula at a time.
//
// The reference is independent of block.cc: it shares only the shape and the order of the weights.
// A test compares its gradients with finite differences of its forward pass.
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

// Returns the output of a packed batch x (tokens, hidden), and the gradient of sum(y * upstream).
// Rows beyond cu_seqlens.back() attend to no other token.
BlockResult block_reference(const BlockShape& shape, const BlockWeights<double>& weights,
                            std::span<const std::int32_t> cu_seqlens, std::span<const double> x,
                            std::span<const double> upstream);

// Converts FP32 weights to double without rounding.
BlockWeights<double> widen(const BlockWeights<float>& weights);

}  // namespace stowage::kernels
