// The training step of the kernels' blocks as an order instance, and the inverse conversion.
//
//   Result<OrderInstance> graph = record_order({.block = {.lengths = {65, 1}}}, 64);
//   Result<TrainingProgram> program = recorded_training(*graph);   // the one it came from
//
// Tensor i and operator i are those of the program (block/program/training_program.h), with 4 bytes
// per float. x, the targets and the weights are inputs; the loss and the weights are outputs. No
// kernel runs.
//
// With `capacity_share`, forward operators that update no tensor may run again. The objective is
// then the time, and the capacity is that share of the peak of the list's order. Times are
// estimated: an operator takes its FLOP of products and attention divided by kFlopPerMs, plus its
// bytes divided by kBytesPerMs.
#pragma once

#include "instances/order/instance.h"
#include "instances/result.h"
#include "kernels/block/program/training_program.h"

namespace stowage::kernels {

// Limit on chunks times layers of a step. At this limit the list has about a million operators.
inline constexpr std::int64_t kMaxChunkLayers = 20'000;

// Rates for the estimated times, about those of one CPU core. Plans depend only on the ratio of the
// two rates.
inline constexpr double kFlopPerMs = 1e8;
inline constexpr double kBytesPerMs = 1e7;

// `alignment` applies to all tensors and must be a multiple of 4. `capacity_share` is in (0, 1], or
// 0 to minimise the peak. Returns E504 for an option out of its range, with the option as the
// pointer ("/chunk_tokens"), and E376 if the sizes sum to more than 2^53.
Result<OrderInstance> record_order(const RecordedStep& step, Bytes alignment,
                                   double capacity_share = 0);

// Returns the program with the operators of an instance with recorded_from. Returns E337 if
// recorded_from describes no valid step, or a step with other operators or tensors.
Result<TrainingProgram> recorded_training(const OrderInstance& instance);

}  // namespace stowage::kernels
