// Runs the blocks that a layout instance was recorded from, in memory laid out by a plan.
//
// The same program runs twice on the same data: with every tensor in an allocation of its own, and
// in one arena with the tensors at their planned offsets. Outputs, input gradients and weight
// gradients must be equal bit for bit, no byte outside the living tensors may change, and the
// arena's high-water mark is the peak that the plan promised.
//
//   Result<BlockProgram> program = recorded_program(instance);
//   BlockExecution done = execute_block(instance, *program, plan, {}, nullptr);
//   if (!done.passed()) complain(done.problems.list());
#pragma once

#include <cstdint>

#include "instances/budget.h"
#include "instances/layout/instance.h"
#include "instances/layout/plan.h"
#include "kernels/block/block_program.h"
#include "kernels/memory/bitwise_check.h"
#include "kernels/problems.h"

namespace stowage::kernels {

struct BlockExecution {
  std::int64_t steps = 0;          // operations, forward and backward
  Bytes separate_bytes = 0;        // of all tensors in allocations of their own
  Bytes high_water_bytes = 0;      // in the arena
  Bytes canary_bytes_checked = 0;  // summed over all looks
  BitwiseCheck output, input_gradient, weight_gradient;
  Problems problems;
  bool complete = false;  // false: the budget ended it, or it could not begin
  StopReason stopped_by = StopReason::none;

  bool passed() const {
    return complete && problems.list().empty() && output.passed() && input_gradient.passed() &&
           weight_gradient.passed();
  }
};

// `program` is recorded_program(instance). The plan may be wrong, but must have one offset in
// [0, 2^53] per buffer; offsets that no float can have and tensors of more than 2^34 bytes together
// are problems. `budget` may be null; it is asked before each of the two runs. Deterministic for
// each seed, of tokens and weights.
BlockExecution execute_block(const LayoutInstance& instance, const BlockProgram& program,
                             const LayoutPlan& plan, std::uint64_t seed, Budget* budget);

}  // namespace stowage::kernels
