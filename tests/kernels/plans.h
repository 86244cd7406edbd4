// Hand-made scatter plans for the executor's tests.
#pragma once

#include <cstdint>
#include <vector>

#include "instances/scatter/instance.h"
#include "instances/scatter/plan.h"

namespace stowage::kernels {

struct GroupOf {
  int degree;
  std::vector<std::int64_t> sequences;
};

// A plan whose tokens and cu_seqlens are right for `instance`; times are placeholders that grow
// with the tokens per rank.
inline ScatterPlan plan_of(const ScatterInstance& instance,
                           const std::vector<std::vector<GroupOf>>& micro_batches) {
  ScatterPlan plan{.name = instance.name};
  for (const auto& groups : micro_batches) {
    ScatterMicroBatch batch;
    int rank = 0;
    for (const GroupOf& of : groups) {
      ScatterGroup group{
          .degree = of.degree, .first_rank = rank, .sequences = of.sequences, .cu_seqlens = {0}};
      for (const std::int64_t id : of.sequences) {
        group.tokens += padded_length(instance, instance.lengths[id]);
        group.cu_seqlens.push_back(group.tokens);
      }
      group.time_ms = 10 + static_cast<double>(group.tokens) / of.degree;
      batch.makespan_ms = group.time_ms > batch.makespan_ms ? group.time_ms : batch.makespan_ms;
      rank += of.degree;
      batch.groups.push_back(group);
    }
    plan.objective_ms += batch.makespan_ms;
    plan.micro_batches.push_back(batch);
  }
  return plan;
}

// Ten sequences on eight devices, padded to multiples of 4.
inline ScatterInstance ten_sequences() {
  return {.name = "ten",
          .cluster = {.devices = 8, .memory_mib = 100, .degrees = {1, 2, 4, 8}},
          .model = {.states_mib = 0, .activation_mib_per_token = 1},
          .pad_multiple = 4,
          .lengths = {150, 3, 64, 64, 17, 90, 33, 1, 40, 5}};
}

// Degrees 1, 2, 4 and 8 in three micro-batches.
inline ScatterPlan ten_sequences_planned() {
  return plan_of(
      ten_sequences(),
      {{{8, {0, 7}}}, {{4, {5, 2}}, {2, {3, 1}}, {1, {8}}, {1, {4}}}, {{1, {9}}, {2, {6}}}});
}

}  // namespace stowage::kernels
