// Simulates the 1F1B schedule with unequal micro-batches, pass by pass.
//
// A micro-batch goes forward through the stages and backward through them again; every stage spends
// the same time on it. Stage s of p (from 0) first runs p - 1 - s forward passes, then alternates
// one forward and one backward pass, then runs the backward passes that are left (PipeDream-Flush,
// arXiv 2006.09503, as in Megatron-LM). A pass starts when its stage is free and its input has
// arrived; sending takes no time. Times that are whole numbers stay exact.
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

// A third of a row's time is the forward pass, and two thirds are the backward pass.
inline constexpr int kBackwardPerForward = 2;

// One micro-batch, with its times on each stage. Times are in any one unit.
struct PipelineItem {
  Ms forward = 0;
  Ms backward = 0;
  Ms recompute = 0;  // a second forward pass, right before the backward pass
  // The size of a group of items that begins here: their backward passes wait for all their forward
  // passes and then run in reverse order. 0 continues the group; 1 is an item of its own.
  std::size_t group_size = 1;
  Bytes stored = 0;   // held from the forward to the end of the backward pass
  Bytes working = 0;  // held in addition during each pass

  bool operator==(const PipelineItem&) const = default;
};

struct PipelineRun {
  Ms end = 0;                 // of the last pass, counted from the first
  Ms busy = 0;                // time that one stage spends in passes
  std::vector<Bytes> memory;  // the most a stage holds at once, by stage

  // Returns the share of its time in which a stage waits: 1 - busy / end; 0 for an empty pipeline.
  double bubble() const { return end > 0 ? 1 - busy / end : 0; }

  bool operator==(const PipelineRun&) const = default;
};

// One pass of an item through a stage in the simulation.
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
// Requires stages >= 1 and group sizes that add up to the items. Calls `watch` with every pass;
// those of one stage come in the order of time.
PipelineRun run_pipeline(const std::vector<PipelineItem>& items, int stages,
                         const std::function<void(const PipelinePass&)>& watch = {});

// Returns the end of the 1F1B schedule of rows of these times, in this order; each row takes its
// time on every stage. Exact if the times and the result are whole numbers. Requires stages >= 1.
Ms simulate_1f1b(const std::vector<Ms>& rows, int stages);

struct RowOrder {
  std::vector<std::size_t> rows;  // their indices
  Ms end = 0;                     // simulate_1f1b() in this order
};

// Returns an order of the rows under which simulate_1f1b() ends early: the best of a few fixed
// orders, improved by moves and swaps. It stops if no move helps, after `simulations` simulations,
// or if `go_on`, called before each simulation but the first, returns false. It is never worse than
// the given order, which is kept if no other order is better. The same input gives the same order.
RowOrder order_rows(const std::vector<Ms>& rows, int stages, std::int64_t simulations = 2000,
                    const std::function<bool()>& go_on = {});

}  // namespace stowage
