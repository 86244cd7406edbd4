// The part of a group's step on one rank: the block forward and backward over the rank's tokens.
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

// The arguments that all groups of a step share.
struct Model {
  const BlockShape& block;
  const BlockWeights<float>& weights;
};

// A packed batch for one group of ranks.
struct GroupTask {
  Exchange exchange;
  std::span<const std::int32_t> cu_seqlens;  // must satisfy check_cu_seqlens() for `tokens` rows
  std::int64_t tokens = 0;
  int ranks = 1;
  std::int64_t window = 0;  // of the block's attention; 0: none. Takes the place of the model's
  int threads = 1;          // of each rank
};

// Returns the token layout of a task. Throws std::length_error if padding makes the batch too long.
TokenLayout layout_of(const GroupTask& task);

struct RankShare {
  std::vector<float> y, dx;      // rows of this rank
  BlockWeights<float> gradient;  // sum over the group's ranks in rank order
  // Thread CPU seconds (CLOCK_THREAD_CPUTIME_ID) from the scattered tokens to the reduced weight
  // gradient, where several threads share work those of the busiest. They include computing and
  // copying, not waiting.
  double seconds = 0;
};

// x and upstream are this rank's rows of layout_of(task); padding rows are 0. world.size() must be
// task.ranks.
RankShare run_share(Communicator& world, const Model& model, const GroupTask& task,
                    std::span<const float> x, std::span<const float> upstream);

// Returns the rows of `all`, (rows, width), whose indices are given; padding gives rows of 0.
std::vector<float> take_rows(std::span<const std::int64_t> rows, std::int64_t width,
                             std::span<const float> all);

// The inverse: writes rows into `all` and drops padding rows.
void put_rows(std::span<const std::int64_t> rows, std::int64_t width, std::span<const float> mine,
              std::span<float> all);

}  // namespace stowage::kernels
