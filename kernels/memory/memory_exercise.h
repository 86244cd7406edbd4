// Executes any layout plan with test patterns: every buffer is filled when it begins and read back
// when it ends, at its planned offset in one arena.
//
// Buffers that share a byte at a step overwrite each other's patterns. So this check is independent
// of the verifier. A buffer with gaps is filled again after each gap.
//
// Real sizes may be terabytes, so addresses are scaled. The distinct ends of all buffers cut the
// address space into pieces, and each piece is divided by `scale`, but to not less than 8 bytes.
// Buffers overlap after scaling exactly if they overlapped before, for any scale.
//
//   MemoryExercise done = exercise_memory(instance, plan, {}, nullptr);
//   if (!done.passed()) complain(done.problems.list());
#pragma once

#include <cstdint>

#include "instances/budget.h"
#include "instances/layout/instance.h"
#include "instances/layout/plan.h"
#include "kernels/problems.h"

namespace stowage::kernels {

struct MemoryExerciseOptions {
  std::int64_t scale = 0;  // 0: the smallest scale that satisfies the two limits
  std::uint64_t seed = 0;  // seed of the patterns
  Bytes most_arena_bytes = Bytes{1} << 26;
  Bytes most_written_bytes = Bytes{1} << 30;
};

struct MemoryExercise {
  std::int64_t scale = 1;
  std::int64_t fillings = 0;   // number of fillings: one per buffer, and one per return from a gap
  Bytes arena_bytes = 0;       // after scaling
  Bytes written_bytes = 0;     // after scaling; the same number of bytes is read back
  Bytes high_water_bytes = 0;  // before scaling: the highest end of a filled buffer
  Problems problems;
  bool complete = false;  // false if the budget ended the run, or if it could not begin
  StopReason stopped_by = StopReason::none;

  bool passed() const { return complete && problems.list().empty(); }
};

// `budget` may be null; it is checked at every step. The plan may be invalid, but must have one
// offset in [0, 2^53] per buffer. A scale that leaves more than 2^32 bytes is reported as a
// problem. The result is deterministic.
MemoryExercise exercise_memory(const LayoutInstance& instance, const LayoutPlan& plan,
                               const MemoryExerciseOptions& options, Budget* budget);

}  // namespace stowage::kernels
