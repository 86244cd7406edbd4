// The task of the ranks of a strategy: a model of equal layers and a head, the assignment of layers
// to ranks, and the sequences of every micro-batch.
//
// Ranks are numbered in the order pp x dp x cp x tp, tp varying fastest. The layers of a stage are
// split into v chunks; chunk c of stage s is part c pp + s of the model
// (instances/pipeline/passes.h).
//
//   StrategyTask task{.block = shape, .pp = 2, .dp = 2, .layers = {3, 2}, .recompute = {...},
//                     .lengths = {40, 30, 20, 10}, .rows = {{{0}, {3}}, {{1}, {2}}}};
//   task.order = planned_order(task.pp, task.v, 2);
//   for (const std::string& problem : check(task)) complain(problem);
//
// Thread safety: plain data; the functions depend only on their arguments.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "instances/strategy/instance.h"
#include "instances/units.h"
#include "kernels/block/block_weights.h"

namespace stowage::kernels {

// The pass of one micro-batch through one chunk of a stage.
struct StagePass {
  bool forward = true;
  int chunk = 0;
  int micro_batch = 0;

  bool operator==(const StagePass&) const = default;
};

struct StrategyTask {
  BlockShape block;  // shape of every layer
  // columns of the head; 0: no head, and the loss of strategy_rank.h without one
  std::int64_t vocabulary = 0;
  // chunks into which a rank's tokens of a micro-batch are split for the logits
  std::int64_t logit_chunks = 1;
  int pp = 1;
  int v = 1;
  int tp = 1;
  int cp = 1;
  int dp = 1;
  std::vector<int> layers;                   // by stage
  std::vector<StrategyRecompute> recompute;  // by stage
  std::vector<Tokens> lengths;               // lengths of the sequences
  // [micro-batch][replica]: ids of sequences
  std::vector<std::vector<std::vector<std::int64_t>>> rows;
  std::vector<std::vector<StagePass>> order;  // by stage: the order of its passes
  std::uint64_t seed = 0;                     // seed of tokens, gradients and weights

  int ranks() const { return pp * tp * cp * dp; }
  int parts() const { return pp * v; }
  int micro_batches() const { return static_cast<int>(rows.size()); }
  int all_layers() const;
  int part_layers(int part) const { return layers[part % pp] / v; }
  int first_layer(int part) const;
  // Returns the packed sequences of a row as prefix sums.
  std::vector<std::int32_t> cu_seqlens(int micro_batch, int replica) const;
};

// The coordinates of a rank.
struct StrategyPlace {
  int stage = 0;
  int replica = 0;
  int slice = 0;  // index in the cp group
  int shard = 0;  // index in the tp group
};
StrategyPlace place_of(const StrategyTask& task, int rank);

// Limits of the execution on ranks, layers of a stage, and micro-batches times parts of the model.
inline constexpr int kMaxStrategyRanks = 1024;
inline constexpr int kMaxStrategyLayers = 4096;
inline constexpr std::int64_t kMaxStrategyPasses = std::int64_t{1} << 20;
inline constexpr std::int64_t kWidestVocabulary = std::int64_t{1} << 20;

// Returns the reasons why a task cannot be executed, one sentence each; empty if it can. The
// function does not check whether `order` is free of deadlocks.
std::vector<std::string> check(const StrategyTask& task);

// Returns the passes of each stage under 1F1B, or under interleaved 1F1B if v > 1, equal to the
// simulation of instances/pipeline/passes.h. With v > 1, pp must divide the micro-batches.
std::vector<std::vector<StagePass>> planned_order(int pp, int v, int micro_batches);

// Returns the largest number of a rank's tokens whose logits are stored at the same time, if the
// rank has `tokens` tokens.
std::int64_t chunk_tokens(const StrategyTask& task, std::int64_t tokens);

// Returns the weights of a layer of the whole model.
BlockWeights<float> layer_weights(const StrategyTask& task, int layer);

}  // namespace stowage::kernels
