// The scatter plan: the micro-batches, their groups, and the sequences of each group.
//
// Solvers produce a plan, the verifier checks it, and the kernels execute it. The plan repeats
// values that could be recomputed (tokens, cu_seqlens, times). So a trainer can use it as it is,
// and the verifier can catch a planner that computes them wrongly.
//
// Thread safety: plain data; its functions read their arguments and nothing else; any number of
// threads may call them at once.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "instances/scatter/instance.h"
#include "instances/units.h"

namespace stowage {

// One sequence-parallel group: ranks [first_rank, first_rank + degree).
struct ScatterGroup {
  int degree = 0;
  int first_rank = 0;
  std::vector<std::int64_t> sequences;  // ids, in packing order
  Tokens tokens = 0;                    // of its row: padded tokens of all sequences
  Ms time_ms = 0;                       // t(S, d) of cost/cost_model.h
  // Padded prefix sums: sequences.size() + 1, the first 0, the last `tokens`.
  std::vector<std::int64_t> cu_seqlens;
  // The exchange of its devices, if the instance has several kinds; its cost is part of time_ms.
  ExchangeKind exchange = ExchangeKind::none;
  // Share of the activations that can leave which are copied to the host, in [0, 1]; the time that
  // the group waits for these copies is part of time_ms. 0 unless the model has `offload`.
  double offload = 0;

  bool operator==(const ScatterGroup&) const = default;
};

struct ScatterMicroBatch {
  Ms makespan_ms = 0;  // the slowest group's time, or that of cost/mixed.h
  std::vector<ScatterGroup> groups;
  // The name of its recomputation mode; empty if the model lists none.
  std::string recomputation = {};

  bool operator==(const ScatterMicroBatch&) const = default;
};

struct ScatterPlan {
  std::string name;           // of the instance
  std::string instance_hash;  // hash (json/json.h) of the only instance that it is valid for
  Ms objective_ms = 0;        // step_ms() of the makespans
  Ms bound_ms = 0;            // no plan of this instance is faster
  std::string bound_by;       // the certificate's name
  // With several pipeline stages: the end of the 1F1B schedule of the micro-batches in this order,
  // a third of a makespan forward and two thirds backward. 0 with one stage.
  Ms simulated_1f1b_ms = 0;
  std::vector<ScatterMicroBatch> micro_batches;

  bool operator==(const ScatterPlan&) const = default;
};

// The objective and the bound that a plan states, in the unit of its family.
inline double objective_of(const ScatterPlan& plan) { return plan.objective_ms; }
inline double bound_of(const ScatterPlan& plan) { return plan.bound_ms; }
inline void state_bound(ScatterPlan& plan, double bound, std::string by) {
  plan.bound_ms = bound;
  plan.bound_by = std::move(by);
}

}  // namespace stowage
