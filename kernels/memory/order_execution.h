// Runs the training step that an order instance was recorded from in the order of a plan, in one
// arena.
//
// The step runs twice on the same data: in program order with every tensor in an allocation of its
// own, and in the planned order with the tensors at given offsets. When a tensor ends, it must
// hold, bit for bit, what it held at the end of the first run: the loss, outputs, all gradients,
// updated weights and all that lies between. What an operator makes again lies at an offset of its
// own each time and must have the same bits each time. What is on the host meanwhile is copied to
// memory of its own, its place is overwritten, and it is copied back to another. No byte outside
// the living tensors may change. How high the arena was filled is what a plan's peak says if the
// layout has no gaps.
//
//   Result<TrainingProgram> program = recorded_training(graph);
//   OrderExecution done = execute_order(graph, *program, plan, layout_plan.offsets, {}, nullptr);
//   if (!done.passed()) complain(done.problems.list());
#pragma once

#include <cstdint>
#include <span>

#include "instances/budget.h"
#include "instances/order/instance.h"
#include "instances/order/plan.h"
#include "kernels/block/training_program.h"
#include "kernels/memory/bitwise_check.h"
#include "kernels/problems.h"

namespace stowage::kernels {

struct OrderExecution {
  std::int64_t steps = 0;          // of the plan
  std::int64_t again = 0;          // steps at which an operator runs again
  std::int64_t transfers = 0;      // tensors that came back from the host, each time counted
  Bytes separate_bytes = 0;        // of all tensors in allocations of their own, once each
  Bytes high_water_bytes = 0;      // in the arena
  Bytes canary_bytes_checked = 0;  // summed over all looks
  float loss = 0;                  // of the planned order
  BitwiseCheck losses, output, input_gradient, weight_gradient, weight, activation;
  Problems problems;
  bool complete = false;  // false: the budget ended it, or it could not begin
  StopReason stopped_by = StopReason::none;

  bool passed() const {
    return complete && problems.list().empty() && losses.passed() && output.passed() &&
           input_gradient.passed() && weight_gradient.passed() && weight.passed() &&
           activation.passed();
  }
};

// `program` is recorded_training(graph), the plan one that verify() finds nothing wrong with.
// `offsets`: of every buffer of order_layout(), in [0, 2^53]; they may be wrong. Offsets that no
// float can have, tensors of more than 2^34 bytes together, and an operator that uses a tensor
// which the order has not written yet, are problems. `budget` may be null; it is asked before each
// operator of the two runs. Deterministic for each seed, of tokens and weights.
OrderExecution execute_order(const OrderInstance& graph, const TrainingProgram& program,
                             const OrderPlan& plan, std::span<const Bytes> offsets,
                             std::uint64_t seed, Budget* budget);

}  // namespace stowage::kernels
