// Strategies to execute in tests: small blocks, a few sequences.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/strategy/task.h"

namespace stowage::kernels {

struct Mixture {
  int pp = 1, v = 1, tp = 1, cp = 1, dp = 1;
  int micro_batches = 1;
  std::vector<int> layers;
  std::vector<StrategyRecompute> recompute;
  std::int64_t vocabulary = 0;
  std::int64_t logit_chunks = 1;
};

inline constexpr StrategyRecompute kNone = StrategyRecompute::none;
inline constexpr StrategyRecompute kSelective = StrategyRecompute::selective;
inline constexpr StrategyRecompute kFull = StrategyRecompute::full;

// Returns a task with two sequences in each row; with `equal` all rows have the same length.
inline StrategyTask task_of(const Mixture& mixture, bool equal) {
  StrategyTask task{.block = {.hidden = 32, .heads = 8, .kv_heads = 2, .head_dim = 8, .ffn = 48},
                    .vocabulary = mixture.vocabulary,
                    .logit_chunks = mixture.logit_chunks,
                    .pp = mixture.pp,
                    .v = mixture.v,
                    .tp = mixture.tp,
                    .cp = mixture.cp,
                    .dp = mixture.dp,
                    .layers = mixture.layers,
                    .recompute = mixture.recompute,
                    .order = planned_order(mixture.pp, mixture.v, mixture.micro_batches),
                    .seed = 3};
  std::int64_t id = 0;
  for (int b = 0; b < mixture.micro_batches; ++b) {
    auto& replicas = task.rows.emplace_back();
    for (int d = 0; d < mixture.dp; ++d) {
      replicas.push_back({id, id + 1});
      task.lengths.push_back(equal ? 21 : 5 + 7 * id % 31);
      task.lengths.push_back(equal ? 12 : 1 + 11 * id % 17);
      id += 2;
    }
  }
  return task;
}

}  // namespace stowage::kernels
