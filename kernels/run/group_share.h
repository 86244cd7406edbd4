// What one rank does of a group's step: the block forward and backward over its tokens.
//
//   const TokenLayout layout = layout_of(task);
//   RankShare share = run_share(world, model, task, my_x, my_upstream);   // on every rank
//   put_rows(layout.of(rank), hidden, share.y, y);
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/block/block_weights.h"
#include "kernels/exchange/exchange.h"
#include "kernels/ranks/communicator.h"

namespace stowage::kernels {

// What all groups of a step have in common.
struct Model {
  const BlockShape& block;
  const BlockWeights<float>& weights;
};

// A packed batch for one group of ranks.
struct GroupTask {
  Exchange exchange;
  std::span<const std::int32_t> cu_seqlens;  // as check_cu_seqlens() wants it for `tokens` rows
  std::int64_t tokens = 0;
  int ranks = 1;
  int repeats = 1;  // timed runs; the result is the same each time
};

// Throws std::length_error where padding makes the batch too long.
TokenLayout layout_of(const GroupTask& task);

struct RankShare {
  std::vector<float> y, dx;      // of this rank's rows
  BlockWeights<float> gradient;  // summed over the group's ranks in rank order
  // Of every repeat, thread CPU seconds (CLOCK_THREAD_CPUTIME_ID) from the scattered tokens to the
  // reduced weight gradient: computing and copying, not waiting.
  std::vector<double> seconds;
};

// x and upstream are this rank's rows of layout_of(task), padding 0. world.size() is task.ranks.
RankShare run_share(Communicator& world, const Model& model, const GroupTask& task,
                    std::span<const float> x, std::span<const float> upstream);

// The named rows of `all`, (rows, width); 0 for padding.
std::vector<float> take_rows(std::span<const std::int64_t> rows, std::int64_t width,
                             std::span<const float> all);

// The inverse; padding is dropped.
void put_rows(std::span<const std::int64_t> rows, std::int64_t width, std::span<const float> mine,
              std::span<float> all);

}  // namespace stowage::kernels
