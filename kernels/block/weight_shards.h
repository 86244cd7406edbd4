// The shard of a block's weights on each rank under tensor parallelism (Megatron-LM, arXiv
// 1909.08053, section 3). Query, key, value, gate and up are cut by columns, output and down by the
// matching rows. Every rank has the complete norms.
//
//   const BlockShape part = shard_shape(shape, 4);
//   BlockWeights<float> mine = shard_weights(shape, whole, 4, rank);
//   put_shard(shape, 4, rank, gradient_of_mine, gradient_of_whole);
//
// With more ranks than kv heads, several consecutive ranks hold the same kv head, and its gradient
// is the sum of their gradients. Thread safety: functions of their arguments alone.
#pragma once

#include <string>
#include <vector>

#include "kernels/block/block_weights.h"

namespace stowage::kernels {

// Returns the reasons why `ranks` ranks cannot share a block, one sentence each; empty if they can.
// The number of ranks must divide heads and ffn, and must divide kv_heads or be a multiple of it.
// Requires check(shape) to be empty.
std::vector<std::string> check_shards(const BlockShape& shape, int ranks);

// The functions below require check_shards() to be empty.
BlockShape shard_shape(const BlockShape& shape, int ranks);

// Returns the number of ranks that hold the same kv head.
int kv_copies(const BlockShape& shape, int ranks);

BlockWeights<float> shard_weights(const BlockShape& shape, const BlockWeights<float>& whole,
                                  int ranks, int rank);

// The inverse for one rank: writes the shard `part` into `whole`.
void put_shard(const BlockShape& shape, int ranks, int rank, const BlockWeights<float>& part,
               BlockWeights<float>& whole);

}  // namespace stowage::kernels
