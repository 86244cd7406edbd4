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
  Ms longest_ms = 0;               // of a micro-batch of the longest sequence alone
  Ms exchange_ms = 0;  // of gradients and states once a step, what computing hides included
  Mib memory_mib = 0;  // at its most
  Ms update_ms = 0;    // of the optimizer once a step; 0 in version 1 of the formulas

  bool operator==(const StrategyStage&) const = default;
};

// What the step takes of a stage beside its passes: the exchange that computing for so long does
// not hide, and the update.
inline Ms exposed_ms(const StrategyStage& stage, const StrategyCost& cost, Ms computing) {
  const Ms left = stage.exchange_ms - cost.overlap * computing;
  return (left > 0 ? left : 0) + stage.update_ms;
}

// "selective", "full in 4 chunks", or "unknown (77)" for an enumerator without a name.
inline std::string recompute_text(const StrategyStage& stage) {
  const auto index = static_cast<std::size_t>(stage.recompute);
  const std::string name = index < kStrategyRecomputes.size()
                               ? std::string(kStrategyRecomputes[index])
                               : "unknown (" + std::to_string(index) + ')';
  return stage.stream_chunks > 1 ? name + " in " + std::to_string(stage.stream_chunks) + " chunks"
                                 : name;
}

struct StrategyPlan {
  std::string name;           // of the instance
  std::string instance_hash;  // hash of the instance (json.h); valid for that one only
  Ms step_ms = 0;             // of the whole step
  Ms bound_ms = 0;            // no configuration of this instance is faster
  std::string bound_by;       // the certificate's name
  std::int64_t pp = 1;
  std::int64_t v = 1;
  std::int64_t micro_batches = 1;
  std::int64_t tp = 1;
  std::int64_t cp = 1;
  std::int64_t dp = 1;
  std::int64_t ep = 1;  // divides cp dp
  std::int64_t logit_chunks = 1;
  std::vector<StrategyStage> stages;  // pp of them

  bool operator==(const StrategyPlan&) const = default;
};

// Layers of one chunk of a stage. Where v does not divide the stage's layers, the embedding takes
// the place of one in the first chunk, and the head in the last one.
inline std::int64_t chunk_layers(const StrategyPlan& plan, std::int64_t stage, std::int64_t chunk) {
  const std::int64_t layers = plan.stages[static_cast<std::size_t>(stage)].layers;
  if (layers % plan.v == 0) return layers / plan.v;
  const bool has_end = chunk == (stage == 0 ? 0 : plan.v - 1);
  return layers / plan.v + (has_end ? 0 : 1);
}

// What a plan of any family says of itself, in the unit of its family.
inline double objective_of(const StrategyPlan& plan) { return plan.step_ms; }
inline double bound_of(const StrategyPlan& plan) { return plan.bound_ms; }
inline void state_bound(StrategyPlan& plan, double bound, std::string by) {
  plan.bound_ms = bound;
  plan.bound_by = std::move(by);
}

}  // namespace stowage
