// One sequence-parallel group's step: a block forward and backward over a packed batch, on ranks.
//
//   GroupOutput out = run_group({.block = block, .weights = weights, .cu_seqlens = cu,
//                                .ranks = 4, .x = x, .upstream = upstream});
//
// Rank 0 scatters the tokens in contiguous slices; every rank computes its slice, exchanges tokens
// for heads around attention (ulysses.h) and back; the weight gradients are all-reduced; rank 0
// gathers outputs and input gradients.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "kernels/block_weights.h"
#include "kernels/thread_ranks.h"

namespace stowage::kernels {

struct GroupInput {
  const BlockShape& block;
  const BlockWeights<float>& weights;
  std::span<const std::int32_t> cu_seqlens;  // as check_cu_seqlens() wants it, for x's rows
  int ranks = 1;
  int repeats = 1;                  // timed runs; the result is the same each time
  std::span<const float> x;         // (tokens, hidden)
  std::span<const float> upstream;  // (tokens, hidden): gradient of the output
};

struct GroupOutput {
  std::vector<float> y, dx;      // (tokens, hidden)
  BlockWeights<float> gradient;  // summed over ranks in rank order
  // Thread CPU seconds (CLOCK_THREAD_CPUTIME_ID) of the busiest rank from the scattered tokens to
  // the reduced weight gradient: computing and copying, not waiting. The least over the repeats.
  double seconds = 0;
  std::optional<RankError> error;  // set: everything else is meaningless
};

GroupOutput run_group(const GroupInput& input);

}  // namespace stowage::kernels
