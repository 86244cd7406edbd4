// The part of a block's weights that each of several ranks has, where they share the products
// (Megatron-LM, arXiv 1909.08053, section 3): query, key, value, gate and up by columns, output and
// down by the rows that belong to them. Norms are whole on every rank.
//
//   const BlockShape part = shard_shape(shape, 4);
//   BlockWeights<float> mine = shard_weights(shape, whole, 4, rank);
//   put_shard(shape, 4, rank, gradient_of_mine, gradient_of_whole);
//
// With more ranks than kv heads a kv head is on several ranks that follow each other, and its
// gradient is the sum of theirs. Thread safety: functions of their arguments alone.
#pragma once

#include <string>
#include <vector>

#include "kernels/block/block_weights.h"

namespace stowage::kernels {

// Everything that keeps so many ranks from sharing a block, one sentence each: they divide heads
// and ffn, and divide kv_heads or are divided by them. check(shape) is empty.
std::vector<std::string> check_shards(const BlockShape& shape, int ranks);

// The functions below require check_shards() to be empty.
BlockShape shard_shape(const BlockShape& shape, int ranks);

// How many ranks have the same kv head.
int kv_copies(const BlockShape& shape, int ranks);

BlockWeights<float> shard_weights(const BlockShape& shape, const BlockWeights<float>& whole,
                                  int ranks, int rank);

// The inverse for one rank: writes what it has into `whole`.
void put_shard(const BlockShape& shape, int ranks, int rank, const BlockWeights<float>& part,
               BlockWeights<float>& whole);

}  // namespace stowage::kernels
