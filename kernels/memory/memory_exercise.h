// Executes any layout plan as an exercise: every buffer is filled when it begins and read back when
// it ends, at its planned place in one arena.
//
// Buffers that share a byte at a step spoil each other's patterns, whatever the verifier thinks. A
// buffer with gaps is filled anew after each of them.
//
// Real sizes may be terabytes. The distinct ends of all buffers cut the address space into pieces,
// and each piece is made `scale` times smaller, but never smaller than 8 bytes: what overlapped
// still does, what was apart still is, however large the scale.
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
  std::int64_t scale = 0;  // 0: the smallest that respects the two limits
  std::uint64_t seed = 0;  // of the patterns
  Bytes most_arena_bytes = Bytes{1} << 26;
  Bytes most_written_bytes = Bytes{1} << 30;
};

struct MemoryExercise {
  std::int64_t scale = 1;
  std::int64_t fillings = 0;   // buffers, and once more for each return from a gap
  Bytes arena_bytes = 0;       // after scaling
  Bytes written_bytes = 0;     // after scaling; read back as well
  Bytes high_water_bytes = 0;  // before scaling: the highest end of a buffer that was filled
  Problems problems;
  bool complete = false;  // false: the budget ended it, or it could not begin
  StopReason stopped_by = StopReason::none;

  bool passed() const { return complete && problems.list().empty(); }
};

// `budget` may be null; it is asked at every step. The plan may be wrong, but must have one offset
// in [0, 2^53] per buffer. A scale that leaves more than 2^32 bytes is a problem. Deterministic.
MemoryExercise exercise_memory(const LayoutInstance& instance, const LayoutPlan& plan,
                               const MemoryExerciseOptions& options, Budget* budget);

}  // namespace stowage::kernels
