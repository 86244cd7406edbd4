// Runs the blocks of a recorded layout instance in memory that a plan laid out.
//
// The same program runs twice on the same data: with every tensor in an allocation of its own, and
// in one arena with the tensors at their planned offsets. Outputs, input gradients and weight
// gradients must be equal bit for bit, and no byte outside the living tensors may change. For a
// valid plan the arena's high-water mark equals the plan's peak.
//
//   Result<BlockProgram> program = recorded_program(instance);
//   BlockExecution done = execute_block(instance, *program, plan, {}, nullptr);
//   if (!done.passed()) complain(done.problems.list());
#pragma once

#include <cstdint>

#include "instances/budget.h"
#include "instances/layout/instance.h"
#include "instances/layout/plan.h"
#include "kernels/block/program/block_program.h"
#include "kernels/memory/bitwise_check.h"
#include "kernels/problems.h"

namespace stowage::kernels {

struct BlockExecution {
  std::int64_t steps = 0;          // operations, forward and backward
  Bytes separate_bytes = 0;        // sum over all tensors
  Bytes high_water_bytes = 0;      // largest end of a buffer in the arena
  Bytes canary_bytes_checked = 0;  // sum over all checks
  BitwiseCheck output, input_gradient, weight_gradient;
  Problems problems;
  bool complete = false;  // false if the budget ended the run, or if it could not begin
  StopReason stopped_by = StopReason::none;

  bool passed() const {
    return complete && problems.list().empty() && output.passed() && input_gradient.passed() &&
           weight_gradient.passed();
  }
};

// `program` must be recorded_program(instance). The plan may be invalid, but must have one offset
// in [0, 2^53] per buffer. Offsets at which no float can be stored, and tensors of more than 2^34
// bytes in total, are reported as problems. `budget` may be null; it is checked before each of the
// two runs. `seed` determines tokens and weights, and the result is deterministic for each seed.
BlockExecution execute_block(const LayoutInstance& instance, const BlockProgram& program,
                             const LayoutPlan& plan, std::uint64_t seed, Budget* budget);

}  // namespace stowage::kernels
