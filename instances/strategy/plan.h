// The strategy plan: one parallel configuration, and the time and memory of each stage.
//
// Thread safety: plain data; its functions read their arguments and nothing else; any number of
// threads may call them at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "instances/strategy/instance.h"
#include "instances/units.h"

namespace stowage {

struct StrategyStage {
  std::int64_t layers = 0;
  std::int64_t zero = 0;
  StrategyRecompute recompute = StrategyRecompute::none;
  std::int64_t stream_chunks = 1;  // of a layer's passes; above 1 only if `full`
  Ms time_ms = 0;                  // forward and backward of a mean micro-batch
  Ms longest_ms = 0;               // of a micro-batch that has only the longest sequence
  Ms exchange_ms = 0;  // of gradients and states once a step, also the part that compute hides
  Mib memory_mib = 0;  // the most at any time
  Ms update_ms = 0;    // of the optimizer once a step; 0 with version 1 of the formulas
  double offload = 0;  // share of its activations that is on the host

  bool operator==(const StrategyStage&) const = default;
};

// Returns the time that a stage adds to the step beside its passes: the part of the exchange that
// `computing` ms do not hide, and the update.
inline Ms exposed_ms(const StrategyStage& stage, const StrategyCost& cost, Ms computing) {
  const Ms left = stage.exchange_ms - cost.overlap_of_step() * computing;
  return (left > 0 ? left : 0) + stage.update_ms;
}

// Returns "selective", "full in 4 chunks", "none, 45.00% of activations on the host", or "unknown
// (77)" for an enumerator without a name.
std::string recompute_text(const StrategyStage& stage);

struct StrategyPlan {
  std::string name;           // of the instance
  std::string instance_hash;  // hash (json/json.h) of the only instance that it is valid for
  Ms step_ms = 0;             // of the whole step
  Ms bound_ms = 0;            // no configuration of this instance is faster
  std::string bound_by;       // the certificate's name
  std::int64_t pp = 1;
  std::int64_t v = 1;
  std::int64_t micro_batches = 1;
  std::int64_t tp = 1;
  std::int64_t cp = 1;
  StrategyExchange cp_exchange = StrategyExchange::all_to_all;  // also where cp is 1
  std::int64_t dp = 1;
  std::int64_t ep = 1;  // divides cp dp
  // Ranks among which ZeRO divides states, fewer than cp dp and a divisor of it; 0 means all of
  // them.
  std::int64_t shard = 0;
  std::int64_t logit_chunks = 1;
  std::vector<StrategyStage> stages;  // one for each of the pp stages

  bool operator==(const StrategyPlan&) const = default;
};

// Returns ", ring, ep 8, shard 16": what most plans leave at its default; "" for a default.
inline std::string sharing_text(const StrategyPlan& plan) {
  return std::string(plan.cp_exchange == StrategyExchange::ring ? ", ring" : "") +
         (plan.ep > 1 ? ", ep " + std::to_string(plan.ep) : "") +
         (plan.shard > 0 ? ", shard " + std::to_string(plan.shard) : "");
}

// Returns the layers of one chunk of a stage. If v does not divide the stage's layers, the
// embedding counts as a layer of the first chunk, and the head as a layer of the last.
inline std::int64_t chunk_layers(const StrategyPlan& plan, std::int64_t stage, std::int64_t chunk) {
  const std::int64_t layers = plan.stages[static_cast<std::size_t>(stage)].layers;
  if (layers % plan.v == 0) return layers / plan.v;
  const bool has_end = chunk == (stage == 0 ? 0 : plan.v - 1);
  return layers / plan.v + (has_end ? 0 : 1);
}

// The objective and the bound that a plan states, in the unit of its family.
inline double objective_of(const StrategyPlan& plan) { return plan.step_ms; }
inline double bound_of(const StrategyPlan& plan) { return plan.bound_ms; }
inline void state_bound(StrategyPlan& plan, double bound, std::string by) {
  plan.bound_ms = bound;
  plan.bound_by = std::move(by);
}

}  // namespace stowage
