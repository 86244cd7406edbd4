// The input of the executor: the packed batches of a plan of any family.
//
// A scatter plan's groups and an assign plan's rows are equal to a kernel: concatenated sequences,
// delimited by cu_seqlens, on some ranks. They differ in the formula of the step time. Each family
// converts its plans in FAMILY/packed_plan.h, by an overload of packed_plan() in namespace stowage.
//
//   const kernels::PackedPlan packed = packed_plan(instance, plan);   // views into `plan`
//   for (const PackedBatch& batch : packed.batches) std::cout << packed.name(batch) << '\n';
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "instances/units.h"

namespace stowage::kernels {

// The offload of a group, from its plan and the cost model.
struct PlannedOffload {
  double share = 0;      // of the activations that can leave
  double out_parts = 0;  // time of the copies out, in parts of the group's time without copies
  double in_parts = 0;   // of the copies back
  Ms stall_ms = 0;       // the time that the group waits for copies

  bool operator==(const PlannedOffload&) const = default;
};

// Holds the values of the plan, unchecked.
struct PackedBatch {
  int part = 0;         // index of the micro-batch or replica in the plan
  int index = 0;        // index of the group or row in the part
  int degree = 0;       // ranks that share it: the group's degree, or tp of the replica
  Ms predicted_ms = 0;  // time_ms of the plan
  Tokens tokens = 0;    // as stated in the plan
  // The weight of its tokens in the step's loss, relative to the correct weight; 1 for a correct
  // plan. It is the weight that the plan's denominators give the row, divided by the row's share of
  // all target tokens.
  double loss_scale = 1;
  std::span<const std::int64_t> sequences;
  std::vector<std::int64_t> cu_seqlens;
  // Several rows that are the parts of one sequence form one batch. These members then hold the
  // position of the first part in the sequence, the end of each part, the number of parts that keep
  // their activations, and the longest row's share of predicted_ms. `cuts` is empty for other
  // batches.
  Tokens first_token = 0;
  std::vector<Tokens> cuts;
  std::int64_t retained = 1;
  double longest_share = 1;
  std::optional<PlannedOffload> offload = {};  // absent if nothing leaves
};

struct PackedPlan {
  std::string_view part_word;   // "micro-batch"
  std::string_view batch_word;  // "group"
  std::vector<Tokens> lengths;  // length of every sequence before padding
  Tokens pad_multiple = 1;
  std::vector<PackedBatch> batches;
  // If the parts are replicas: the number of pipeline stages of each part. Replicas run in
  // parallel, and each runs its batches one after another. Empty if the parts are micro-batches,
  // which run one after another, with their batches in parallel.
  std::vector<int> stages;
  // pipeline stages that the micro-batches pass; 1 if the parts are replicas
  int pipeline_stages = 1;
  // With several stages: the end in ms of the 1F1B schedule, simulated with the plan's times.
  std::optional<double> simulated_ms;
  // Sliding windows: in this share of the layers a token sees the last `window` tokens, itself
  // included. In the others, all before it.
  Tokens window = 0;
  double window_share = 0;
  std::vector<std::string> notes;  // features of the plan that the executor does not run

  std::string name(int part, int index) const;  // "group 0 of micro-batch 1"
};

// A batch and its time, in any unit.
struct TimedBatch {
  int part = 0;
  double time = 0;
  double longest_share = 1;  // share of its longest row
};

// Returns the time of a step with these batch times. For micro-batches it is the sum over
// micro-batches of the slowest batch, plus the slowest batch of all once per further pipeline
// stage. For replicas it is the slowest replica's sum of all batches, plus its longest row once per
// further stage.
double step_time(const PackedPlan& plan, const std::vector<TimedBatch>& batches);

// Returns the end of the 1F1B schedule of a step with these batch times, in their unit, simulated
// with the parts or, of replicas, the rows in the order of the plan. Returns nullopt if no batch
// passes several stages, or if a batch has several rows, whose own times are unknown.
std::optional<double> simulated_step_time(const PackedPlan& plan,
                                          const std::vector<TimedBatch>& batches);

}  // namespace stowage::kernels
