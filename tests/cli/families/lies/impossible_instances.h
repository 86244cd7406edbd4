// Instances without a plan.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "instances/instance.h"
#include "instances/order/planning_table.h"
#include "tests/tiny_assign.h"
#include "tests/tiny_scatter.h"
#include "tests/tiny_strategy.h"

namespace stowage::families_lies_test {

// Two buffers pinned to the same offset, and a buffer pinned beyond the capacity.
inline std::vector<Instance> impossible_layouts() {
  const LayoutInstance pins{
      .name = "pins",
      .buffers = {{.id = "a", .lower = 0, .upper = 2, .size = 8, .offset = 0},
                  {.id = "b", .lower = 1, .upper = 3, .size = 8, .offset = 4}}};
  LayoutInstance beyond = pins;
  beyond.capacity = 8;
  beyond.buffers[0].upper = 1;
  LayoutInstance full = beyond;
  for (Buffer& buffer : full.buffers) buffer.offset.reset();
  full.buffers[0].upper = 2;
  full.buffers[0].alignment = full.buffers[1].alignment = 16;
  // Three buffers of 4 bytes and the pinned one need 13 bytes, and end at 12 or 15.
  LayoutInstance gap{.name = "gap",
                     .capacity = 14,
                     .buffers = {{.lower = 0, .upper = 1, .size = 1, .offset = 10}}};
  for (int k = 0; k < 3; ++k) gap.buffers.push_back({.lower = 0, .upper = 1, .size = 4});
  return {pins, beyond, full, gap};
}

inline std::vector<Instance> impossible_steps() {
  ScatterInstance scatter = tiny_scatter(1);
  scatter.lengths = {1, 100'000};
  ScatterInstance workspace = tiny_scatter(1);
  workspace.lengths = {1, 2};
  workspace.model.sequence_mib = 1000;
  AssignInstance longer = tiny_assign(1);
  longer.lengths = {1, 1'000'000};
  AssignInstance starving{.name = "starving",
                          .devices = 2,
                          .schemes = {{.name = "1x1", .linear_ms = 1, .max_tokens = 10},
                                      {.name = "short", .linear_ms = 1, .max_tokens = 2}},
                          .strategies = {{.name = "both", .replicas = {1, 1}}},
                          .constraints = {.allow_empty = false},
                          .lengths = {5, 6, 7}};
  ScatterInstance odd = tiny_scatter(1);
  odd.rules.micro_batches_multiple_of = 2;
  odd.lengths = {1, 1, 1};
  odd.cost.all_to_all = {};
  odd.cluster.degrees = {odd.cluster.devices};
  odd.rules.max_sequences_per_group = 1;
  ScatterInstance idle{.name = "idle",
                       .cluster = {.devices = 4, .memory_mib = 10, .degrees = {1, 2}},
                       .model = {.activation_mib_per_token = 1},
                       .cost = {.linear_ms = 1},
                       .rules = {.no_idle_ranks = true},
                       .lengths = {5}};
  return {scatter, workspace, longer, starving, odd, idle};
}

// An operator that needs more than the capacity, and inputs that do.
inline std::vector<Instance> impossible_orders() {
  const OrderInstance alone{.name = "alone",
                            .capacity = 10,
                            .tensors = {{.size = 4, .input = true}, {.size = 4, .output = true}},
                            .operators = {{.reads = {0}, .writes = {1}, .workspace = 3}}};
  OrderInstance crowded = alone;
  crowded.name = "crowded";
  crowded.tensors.push_back({.size = 20, .input = true, .output = true});
  crowded.operators.clear();
  crowded.tensors[1].input = true;
  return {alone, crowded};
}

// Options without a valid combination, and layers that fit on no stage.
inline std::vector<Instance> impossible_strategies() {
  StrategyInstance crowded = tiny_strategy(0);
  crowded.name = "crowded";
  crowded.cluster.memory_mib = 0.5;
  StrategyInstance odd = crowded;
  odd.name = "odd";
  odd.options.tp = {7};
  return {crowded, odd};
}

}  // namespace stowage::families_lies_test
