// Runs the training step of a recorded order instance in the order of a plan, in one arena.
//
// The step runs twice on the same data: in program order with every tensor in an allocation of its
// own, and in the planned order with the tensors at given offsets. When a tensor ends, it must hold
// the same bits as at the end of the first run. This covers the loss, outputs, all gradients,
// updated weights and all intermediate tensors. A recomputed tensor has a separate offset for each
// computation and must have the same bits each time. An offloaded tensor is copied to separate
// memory, its place is overwritten, and it is copied back to another place. No byte outside the
// living tensors may change. If the layout has no gaps, the arena's high-water mark equals the
// plan's peak.
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
#include "kernels/block/program/training_program.h"
#include "kernels/memory/bitwise_check.h"
#include "kernels/problems.h"

namespace stowage::kernels {

struct OrderExecution {
  std::int64_t steps = 0;          // steps of the plan
  std::int64_t again = 0;          // number of steps that run an operator again
  std::int64_t transfers = 0;      // number of transfers back from the host
  Bytes separate_bytes = 0;        // sum over all tensors, each counted once
  Bytes high_water_bytes = 0;      // largest end of a buffer in the arena
  Bytes canary_bytes_checked = 0;  // sum over all checks
  float loss = 0;                  // loss of the planned order
  BitwiseCheck losses, output, input_gradient, weight_gradient, weight, activation;
  Problems problems;
  bool complete = false;  // false if the budget ended the run, or if it could not begin
  StopReason stopped_by = StopReason::none;

  bool passed() const {
    return complete && problems.list().empty() && losses.passed() && output.passed() &&
           input_gradient.passed() && weight_gradient.passed() && weight.passed() &&
           activation.passed();
  }
};

// `program` must be recorded_training(graph), and verify() must accept the plan. `offsets` has one
// entry in [0, 2^53] per buffer of order_layout() and may be invalid. Reported as problems are:
// offsets at which no float can be stored, tensors of more than 2^34 bytes in total, and an
// operator that uses a tensor which is not yet written. `budget` may be null; it is checked before
// each operator of the two runs. `seed` determines tokens and weights, and the result is
// deterministic for each seed.
OrderExecution execute_order(const OrderInstance& graph, const TrainingProgram& program,
                             const OrderPlan& plan, std::span<const Bytes> offsets,
                             std::uint64_t seed, Budget* budget);

}  // namespace stowage::kernels
