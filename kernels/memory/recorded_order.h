// The training step of the blocks as an order instance, and the way back.
//
//   Result<OrderInstance> graph = record_order({.block = {.lengths = {65, 1}}}, 64);
//   Result<TrainingProgram> program = recorded_training(*graph);   // the one it came from
//
// Tensor i and operator i are those of the program (block/training_program.h), 4 bytes a float. x,
// the targets and the weights are inputs; the loss and the weights are outputs. Nothing is run.
//
// With `capacity_share` the operators of the forward pass that update nothing may run again, and
// the time is to be least within that share of the peak of the list's order. Times are then
// estimated: kFlopPerMs for products and attention, kBytesPerMs for what an operator touches.
#pragma once

#include "instances/order/instance.h"
#include "instances/result.h"
#include "kernels/block/training_program.h"

namespace stowage::kernels {

// The most chunks times layers of a step: with that many the list has a million operators.
inline constexpr std::int64_t kMostChunkLayers = 20'000;

// About what a core does. Plans depend on their ratio.
inline constexpr double kFlopPerMs = 1e8;
inline constexpr double kBytesPerMs = 1e7;

// `alignment` of all tensors, a multiple of 4; `capacity_share` in (0, 1], or 0: the peak is to be
// least. E504 for an option out of its range, with the option as the pointer ("/chunk_tokens");
// E376 for sizes that sum to more than 2^53.
Result<OrderInstance> record_order(const RecordedStep& step, Bytes alignment,
                                   double capacity_share = 0);

// The program that has the operators of an instance with recorded_from. E337 if it describes no
// step, or one with other operators or tensors.
Result<TrainingProgram> recorded_training(const OrderInstance& instance);

}  // namespace stowage::kernels
