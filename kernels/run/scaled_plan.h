// A plan made small enough to execute, with its mistakes kept.
//
// Lengths are divided by an integer `scale` and rounded up, so that a step of millions of tokens
// runs in seconds. Two descriptions of every batch come out, and they must not be confused:
//
//   rows        what the data loader packs: the sequences the plan names, each with its own
//               (padded, scaled) length from the instance, end to end
//   cu_seqlens  what the plan tells attention about that array: the plan's own differences, scaled
//
// For a right plan they are equal. A difference that is off by one token in the plan stays off by
// at least one scaled token: rounding never hides a mistake.
//
//   ScaledPlan scaled = scale_plan(packed_plan(instance, plan), {}, 0, 5e9);
//   for (const std::string& problem : scaled.problems.list()) complain(problem);
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "instances/units.h"
#include "kernels/block/block_weights.h"
#include "kernels/problems.h"
#include "kernels/run/packed_plan.h"

namespace stowage::kernels {

struct ScaledBatch {
  int part = 0;  // as in PackedBatch
  int index = 0;
  int degree = 0;
  Ms predicted_ms = 0;                   // time_ms of the plan, at full lengths
  double loss_scale = 1;                 // as in PackedBatch
  std::vector<std::int64_t> sequences;   // ids, all of them valid
  std::vector<std::int32_t> rows;        // prefix sums: sequence i is rows [rows[i], rows[i+1])
  std::vector<std::int32_t> cu_seqlens;  // non-decreasing, first 0, last <= rows.back()
  std::vector<Tokens> cuts;              // ends of the only sequence's chunks; empty: not cut
  std::int64_t retained = 1;             // as in PackedBatch
  double longest_share = 1;              // as in PackedBatch
  std::string name;                      // "group 0 of micro-batch 1"
};

struct ScaledPlan {
  std::int64_t scale = 1;
  std::vector<Tokens> lengths;       // scaled length of every sequence of the instance
  std::vector<ScaledBatch> batches;  // those that can be executed, in plan order
  double work_flop = 0;              // the larger of: all sequences alone, the plan's batches
  Problems problems;                 // what is wrong with the plan; broken batches are left out
};

// The most rows one batch may have after scaling.
inline constexpr std::int64_t kMaxBatchRows = std::int64_t{1} << 24;

// Reads a plan that may be wrong in any way without ever reading out of bounds. `scale` >= 1 is
// used as it is; 0 takes the smallest scale whose work_flop is at most `max_work_flop` (or, when
// there is none, the one that leaves every sequence one token). An instance with a length below 1
// or beyond kMaxExact, a pad_multiple below 1, or a sequence of more than kMaxBatchRows scaled
// tokens is a problem that leaves `lengths` and `batches` empty.
ScaledPlan scale_plan(const PackedPlan& plan, const BlockShape& block, std::int64_t scale,
                      double max_work_flop);

}  // namespace stowage::kernels
