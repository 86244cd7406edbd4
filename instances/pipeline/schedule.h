// When a pipeline is done: the 1F1B schedule with unequal micro-batches, simulated pass by pass.
//
// A micro-batch goes forward through the stages and backward through them again; every stage spends
// the same time on it. Stage s of p (from 0) first runs p - 1 - s forward passes, then by turns one
// forward and one backward, then the backward passes that are left (PipeDream-Flush, arXiv
// 2006.09503, as in Megatron-LM). A pass starts when its stage is free and its input has arrived;
// sending takes no time. Times that are whole numbers stay exact.
//
//   simulate_1f1b({12, 6, 3, 3}, 4);             // 56: the sum is 24, so that 57.14 % is bubble
//   order_rows({12, 6, 3, 3}, 4).rows;           // an order that ends earlier
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "instances/units.h"

namespace stowage {

// Of a row's time a third is the forward pass and two thirds are the backward pass.
inline constexpr int kBackwardPerForward = 2;

// One micro-batch, on each stage. Times are in any one unit.
struct PipelineItem {
  Ms forward = 0;
  Ms backward = 0;
  Ms recompute = 0;  // the forward pass once more, right before the backward pass
  // The first item of a group of items whose backward passes wait for all their forward passes and
  // then run in reverse order; 0 continues the group. 1 alone is an item by itself.
  std::size_t group_size = 1;
  Bytes stored = 0;   // held from the forward to the end of the backward pass
  Bytes working = 0;  // held beside that during each pass

  bool operator==(const PipelineItem&) const = default;
};

struct PipelineRun {
  Ms end = 0;                 // of the last pass, counted from the first
  Ms busy = 0;                // what one stage spends in passes
  std::vector<Bytes> memory;  // the most a stage holds at once, by stage

  // The share of its time in which a stage waits: 1 - busy / end; 0 for an empty pipeline.
  double bubble() const { return end > 0 ? 1 - busy / end : 0; }

  bool operator==(const PipelineRun&) const = default;
};

// One pass of an item through a stage, as the simulation finds it.
struct PipelinePass {
  enum class Kind { forward, recompute, backward };
  std::size_t stage = 0;
  std::size_t item = 0;
  Kind kind = Kind::forward;
  Ms start = 0;
  Ms end = 0;

  bool operator==(const PipelinePass&) const = default;
};

// Runs the items, which enter in this order. O(items * stages) time, O(items + stages) memory.
// Requires stages >= 1 and group sizes that add up to the items. `watch` is told of every pass; the
// passes of one stage come in the order of time.
PipelineRun run_pipeline(const std::vector<PipelineItem>& items, int stages,
                         const std::function<void(const PipelinePass&)>& watch = {});

// The end of the 1F1B schedule of rows of these times, in this order; each row takes its time on
// every stage. Exact if the times are whole numbers and the result is one. Requires stages >= 1.
Ms simulate_1f1b(const std::vector<Ms>& rows, int stages);

struct RowOrder {
  std::vector<std::size_t> rows;  // their indices
  Ms end = 0;                     // simulate_1f1b() in this order
};

// An order of the rows under which simulate_1f1b() ends early: the best of a few fixed orders,
// improved by moves and swaps until none helps, `simulations` were made or `go_on`, asked before
// each but the first, says no. Never worse than the given order, which is kept where nothing is
// better. The same input gives the same order.
RowOrder order_rows(const std::vector<Ms>& rows, int stages, std::int64_t simulations = 2000,
                    const std::function<bool()>& go_on = {});

}  // namespace stowage
