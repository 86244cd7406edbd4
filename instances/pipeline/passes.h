// Simulates a pipeline of unequal stages pass by pass: 1F1B, interleaved, zero-bubble.
//
// The layers of a model are split over p stages in v chunks each: chunk c of stage s is part c p +
// s of the model. A micro-batch goes forward through all parts and backward through them again. The
// backward pass of a part may be split. Its first half is the gradient of its input, for which the
// part before waits. The second half is the gradient of its weights, for which no part waits.
//
//   - 1F1B: stage s first runs p - 1 - s forward passes, then alternates one forward and one
//     backward
//     pass (PipeDream-Flush, arXiv 2006.09503). v = 1.
//   - interleaved: p micro-batches go through a chunk, then through the next chunk, as in
//     Megatron-LM
//     (arXiv 2104.04473, section 2.2). Stage s first runs 2 (p - 1 - s) + (v - 1) p forward passes.
//   - ZB-H1: the order of 1F1B; behind the backward pass of micro-batch b stage s takes the weights
//     of b - s, so that every stage holds p micro-batches (arXiv 2401.10241, section 2.2). v = 1.
//   - ZB-H2: stage s first runs 2 (p - 1 - s) forward passes, and takes the weights of b - 2 s.
//     Every
//     stage holds 2 p - 1 micro-batches, and waits less between its first and its last pass. Stages
//     end one after the other: a gain if the next step need not wait for the last (section 4).
//
//   const PassRun run = simulate_passes({.stages = 4, .rows = rows});
//   run.end;   // of equal stages: (m + p - 1) (forward + backward + weights)
//
// Thread safety: functions of their arguments alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "instances/units.h"

namespace stowage {

enum class PassSchedule { one_f_one_b, interleaved, zb_h1, zb_h2 };
inline constexpr std::string_view kPassScheduleNames[] = {"1F1B", "interleaved 1F1B", "ZB-H1",
                                                          "ZB-H2"};

// The times of one micro-batch in one part of the model. Any unit will do.
struct PassTimes {
  Ms forward = 0;
  Ms backward = 0;  // for the gradient of the input
  Ms weights = 0;   // for the gradient of the weights
};

struct PassPipeline {
  int stages = 1;
  int chunks = 1;  // of a stage; more than one only with the interleaved schedule
  PassSchedule schedule = PassSchedule::one_f_one_b;
  std::vector<std::vector<PassTimes>> rows;  // by micro-batch, by part of the model
  Ms send = 0;                               // delay of a result between two stages
};

struct PassRun {
  Ms end = 0;                      // of the last pass
  std::vector<Ms> busy;            // time that each stage spends in passes
  std::vector<Ms> idle;            // time that it waits between its first and its last pass
  std::vector<std::int64_t> held;  // the most chunks of micro-batches that each stage holds at
                                   // once, from their forward pass to their last backward pass
};

// One pass of the simulation. If backward passes are not split, `backward` is the whole pass.
struct PassDone {
  enum class Kind { forward, backward, weights };
  std::size_t stage = 0;
  std::size_t chunk = 0;
  std::size_t row = 0;
  Kind kind = Kind::forward;
  Ms start = 0;
  Ms end = 0;
};

// Runs the pipeline. Requires stages and chunks of 1 or more and times for every part in every row;
// with chunks, the stages must divide the number of rows. Calls `watch` with every pass; those of
// one stage come in the order of time. O(passes) time and memory.
PassRun simulate_passes(const PassPipeline& pipeline,
                        const std::function<void(const PassDone&)>& watch = {});

// Returns a lower bound on the end of any order of the passes, whichever micro-batch goes first. It
// is the largest over all stages of: the way of a micro-batch to the stage, all its passes, and the
// way back from it. T12 of docs/reference/strategy.md.
Ms least_end(const PassPipeline& pipeline);

}  // namespace stowage
