// Scales a plan down so that it can be executed, and preserves its errors.
//
// Lengths are divided by an integer `scale` and rounded up, so that a step of millions of tokens
// runs in seconds. The result has two descriptions of every batch:
//
//   rows        the array that the data loader packs: the plan's sequences, concatenated, each with
//               its padded and scaled length from the instance
//   cu_seqlens  the segments of that array for attention: the plan's own differences, scaled
//
// For a correct plan they are equal. A segment that is wrong by one token in the plan stays wrong
// by at least one scaled token, so that rounding never hides an error.
//
//   ScaledPlan scaled = scale_plan(packed_plan(instance, plan), {}, 0, 5e9);
//   for (const std::string& problem : scaled.problems.list()) complain(problem);
#pragma once

#include <cstdint>
#include <optional>
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
  std::vector<Tokens> cuts;              // ends of the chunks of the only sequence; empty: not cut
  std::int64_t retained = 1;             // as in PackedBatch
  double longest_share = 1;              // as in PackedBatch
  std::optional<PlannedOffload> offload = {};
  std::string name;  // "group 0 of micro-batch 1"
};

// A kind of layer and its share of the layers.
struct LayerKind {
  Tokens window = 0;  // tokens that a token sees, at most; 0: all before it
  double share = 1;
};

struct ScaledPlan {
  std::int64_t scale = 1;
  std::vector<LayerKind> layers = {{}};  // one or two kinds
  std::vector<Tokens> lengths;           // scaled length of every sequence of the instance
  std::vector<ScaledBatch> batches;      // batches that can be executed, in plan order
  // The larger of: all sequences alone, the plan's batches; the sum over the kinds of layers.
  double work_flop = 0;
  Problems problems;  // errors of the plan; invalid batches are omitted
};

// Limit on the rows of one batch after scaling.
inline constexpr std::int64_t kMaxBatchRows = std::int64_t{1} << 24;

// Scales a plan, which may be invalid in any way, and never reads out of bounds. A `scale` >= 1 is
// used unchanged. `scale` 0 selects the smallest scale whose work_flop is at most `max_work_flop`;
// if no scale reaches that, it selects the scale that leaves every sequence one token. Three errors
// leave `lengths` and `batches` empty: a length below 1 or beyond kMaxExact, a pad_multiple below
// 1, and a sequence of more than kMaxBatchRows scaled tokens.
ScaledPlan scale_plan(const PackedPlan& plan, const BlockShape& block, std::int64_t scale,
                      double max_work_flop);

}  // namespace stowage::kernels
