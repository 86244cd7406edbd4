// What the ranks of a strategy execute: a model of equal layers and a head, who has which of them,
// and the sequences of every micro-batch.
//
// Ranks lie pp x dp x cp x tp, the last running fastest. The layers of a stage are dealt to v
// chunks; chunk c of stage s is part c pp + s of the model (instances/pipeline/passes.h).
//
//   StrategyTask task{.block = shape, .pp = 2, .dp = 2, .layers = {3, 2}, .recompute = {...},
//                     .lengths = {40, 30, 20, 10}, .rows = {{{0}, {3}}, {{1}, {2}}}};
//   task.order = planned_order(task.pp, task.v, 2);
//   for (const std::string& problem : check(task)) complain(problem);
//
// Thread safety: plain data; functions of their arguments alone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "instances/strategy/instance.h"
#include "instances/units.h"
#include "kernels/block/block_weights.h"

namespace stowage::kernels {

// One micro-batch's way through one chunk of a stage.
struct StagePass {
  bool forward = true;
  int chunk = 0;
  int micro_batch = 0;

  bool operator==(const StagePass&) const = default;
};

struct StrategyTask {
  BlockShape block;               // of every layer
  std::int64_t vocabulary = 0;    // of the head; 0: none, and a loss that needs none
  std::int64_t logit_chunks = 1;  // of a rank's tokens of a micro-batch
  int pp = 1;
  int v = 1;
  int tp = 1;
  int cp = 1;
  int dp = 1;
  std::vector<int> layers;                                   // of each stage
  std::vector<StrategyRecompute> recompute;                  // in each stage
  std::vector<Tokens> lengths;                               // of the sequences
  std::vector<std::vector<std::vector<std::int64_t>>> rows;  // [micro-batch][replica]: sequences
  std::vector<std::vector<StagePass>> order;                 // of the passes of each stage
  std::uint64_t seed = 0;                                    // of tokens, gradients and weights

  int ranks() const { return pp * tp * cp * dp; }
  int parts() const { return pp * v; }
  int micro_batches() const { return static_cast<int>(rows.size()); }
  int all_layers() const;
  int part_layers(int part) const { return layers[part % pp] / v; }
  int first_layer(int part) const;
  // The packed sequences of a row as prefix sums.
  std::vector<std::int32_t> cu_seqlens(int micro_batch, int replica) const;
};

// Where a rank is.
struct StrategyPlace {
  int stage = 0;
  int replica = 0;
  int slice = 0;  // of cp
  int shard = 0;  // of tp
};
StrategyPlace place_of(const StrategyTask& task, int rank);

// The most ranks, layers of a stage, and micro-batches times parts of the model that are executed.
inline constexpr int kMostStrategyRanks = 1024;
inline constexpr int kMostStrategyLayers = 4096;
inline constexpr std::int64_t kMostStrategyPasses = std::int64_t{1} << 20;
inline constexpr std::int64_t kWidestVocabulary = std::int64_t{1} << 20;

// Everything that keeps a task from being executed, one sentence each. Whether `order` leads to an
// end is not looked at.
std::vector<std::string> check(const StrategyTask& task);

// The passes of each stage under 1F1B, or interleaved where v > 1, as instances/pipeline/passes.h
// simulates them. With chunks pp divides the micro-batches.
std::vector<std::vector<StagePass>> planned_order(int pp, int v, int micro_batches);

// The most tokens of a rank whose logits exist at once, of so many that it has.
std::int64_t chunk_tokens(const StrategyTask& task, std::int64_t tokens);

// The weights of a layer of the whole model.
BlockWeights<float> layer_weights(const StrategyTask& task, int layer);

}  // namespace stowage::kernels
