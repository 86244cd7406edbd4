// Plans with sequences that are cut into chunks.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "instances/assign/plan_builder.h"
#include "instances/violation.h"
#include "tests/instances/json_fixture.h"

namespace stowage::assign_chunked_plan_test {

inline std::string all_of(const std::vector<Violation>& violations) {
  std::string lines;
  for (const Violation& violation : violations) lines += to_string(violation) + '\n';
  return lines;
}

// Returns the plan with all parts after the packed rows, ChunkFlow's order.
inline AssignPlan parts_last(const AssignInstance& instance, AssignPlan plan) {
  plan.simulated_1f1b_ms = 0;
  for (AssignReplica& replica : plan.replicas) {
    const Scheme& scheme = *std::ranges::find(instance.schemes, replica.scheme, &Scheme::name);
    std::stable_partition(replica.rows.begin(), replica.rows.end(),
                          [](const AssignRow& row) { return !row.part; });
    plan.simulated_1f1b_ms =
        std::max(plan.simulated_1f1b_ms, simulated_ms(instance, scheme, replica.rows));
  }
  return plan;
}

// Replica 0 has two packed rows and a sequence of 25 tokens in parts of 10, 10 and 5; the first two
// go forward twice. Replica 1 has a sequence of 12 tokens in two parts, the first of which goes
// forward twice.
inline AssignInstance three_cuts() {
  AssignInstance instance{.name = "cuts",
                          .devices = 4,
                          .schemes = {{.name = "p2",
                                       .pp = 2,
                                       .quadratic_ms = 0.1,
                                       .linear_ms = 1,
                                       .fixed_ms = 3,
                                       .max_tokens = 12}},
                          .strategies = {{.name = "two", .replicas = {2}}},
                          .lengths = {25, 6, 4, 10, 12}};
  instance.constraints.chunks = {
      .size = 10, .retained = 1, .activation_bytes = 10, .key_value_bytes = 5};
  return instance;
}

}  // namespace stowage::assign_chunked_plan_test
