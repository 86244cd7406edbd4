// Runs the row of a group through a stack of blocks on one rank, with and without the copies of a
// plan's offload, and measures how long the passes wait for copies.
//
//   OffloadMeasurement seen = run_offloaded(weights, row, planned, {});
//   seen.executed_stall_s / seen.predicted_stall_s;
//
// A plan's copies and its work belong to another machine. So the copies of the run take the same
// parts of its work as those of the plan take of the plan's.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kernels/block/block_weights.h"
#include "kernels/run/packed_plan.h"

namespace stowage::kernels {

struct OffloadOptions {
  // Blocks of the stack, of equal weights, at least 1. All that they save can leave. The last block
  // forward, and the first backward, hide none of their own copies: the fewer blocks, the more a
  // run waits beyond the formula.
  int blocks = 12;
  // Copies that wait at a time, in each direction, have at most this part of the saved bytes.
  double in_flight = 1.0 / 8;
  int repeats = 1;  // of a run without copies and one with them; medians count
};

// Returns a message for every option out of range.
std::vector<std::string> check(const OffloadOptions& options);

// The packed tokens of a group, (tokens, hidden) each.
struct OffloadRow {
  const BlockShape& block;
  std::span<const std::int32_t> cu_seqlens;
  std::span<const float> x, upstream;
};

// Times are seconds of the clock, since waiting is not computing.
struct OffloadMeasurement {
  PlannedOffload planned;
  int blocks = 0;
  std::int64_t saved_bytes = 0;          // of all blocks, from forward to backward
  std::int64_t moved_bytes = 0;          // of them, left for the host
  std::int64_t device_bytes = 0;         // high-water mark of all tensors
  std::int64_t device_bytes_alone = 0;   // the same without copies
  double forward_s = 0, backward_s = 0;  // without copies
  // By the formula of the plan, for the time that the passes with copies computed: on a busy
  // machine it differs from the time of those without.
  double predicted_stall_s = 0;
  double executed_stall_s = 0;  // the time for which the passes waited
  double slower_s = 0;          // the time of the passes with copies, minus that without
  bool same_bits = false;       // outputs and gradients, in every repeat
};

// Throws std::bad_alloc, also if the copies lack memory.
OffloadMeasurement run_offloaded(const BlockWeights<float>& weights, const OffloadRow& row,
                                 const PlannedOffload& planned, const OffloadOptions& options);

}  // namespace stowage::kernels
