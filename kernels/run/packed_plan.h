// What the executor runs: packed batches, whichever family's plan they come from.
//
// A scatter plan's groups and an assign plan's rows are the same to a kernel: sequences packed end
// to end, cut by cu_seqlens, on some ranks. They differ in how their times add up to a step's. Each
// family packs its own plans (FAMILY/packed_plan.h), by a function in namespace stowage that is
// found by the types it takes.
//
//   const kernels::PackedPlan packed = packed_plan(instance, plan);   // views into `plan`
//   for (const PackedBatch& batch : packed.batches) std::cout << packed.name(batch) << '\n';
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "instances/units.h"

namespace stowage::kernels {

// Nothing of it needs to be right: it says what the plan says.
struct PackedBatch {
  int part = 0;         // micro-batch or replica: index into the plan
  int index = 0;        // group or row: index into the part
  int degree = 0;       // ranks that share it: the group's degree or tp of the replica
  Ms predicted_ms = 0;  // time_ms of the plan
  Tokens tokens = 0;    // as the plan states them
  // How often its tokens count in the step's loss, once if the plan says it right: what the plan's
  // denominators make of a row, over what its tokens are of all.
  double loss_scale = 1;
  std::span<const std::int64_t> sequences;
  std::vector<std::int64_t> cu_seqlens;
  // Rows that are the parts of one sequence are one batch: where in the sequence the first begins
  // and each of them ends, how many keep their activations, and the longest row's share of
  // predicted_ms. Empty for other batches.
  Tokens first_token = 0;
  std::vector<Tokens> cuts;
  std::int64_t retained = 1;
  double longest_share = 1;
};

struct PackedPlan {
  std::string_view part_word;   // "micro-batch"
  std::string_view batch_word;  // "group"
  std::vector<Tokens> lengths;  // of all sequences, before padding
  Tokens pad_multiple = 1;
  std::vector<PackedBatch> batches;
  // Stages of each part's pipeline, where the parts are replicas: they work side by side, each on
  // one batch after another. Empty for micro-batches: those come one after another, and the batches
  // of each work side by side.
  std::vector<int> stages;
  int pipeline_stages = 1;         // that the micro-batches go through; 1 where there are replicas
  std::vector<std::string> notes;  // what the executor leaves out

  std::string name(int part, int index) const;  // "group 0 of micro-batch 1"
};

// A batch that took some time, in whatever unit.
struct TimedBatch {
  int part = 0;
  double time = 0;
  double longest_share = 1;  // of its longest row
};

// What a step takes whose batches take these times: the slowest batch of each micro-batch, summed,
// and the slowest of all once more for every further stage of a pipeline; or, of the slowest
// replica, all batches and once more for every further stage the longest row.
double step_time(const PackedPlan& plan, const std::vector<TimedBatch>& batches);

}  // namespace stowage::kernels
