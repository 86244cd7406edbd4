#include "kernels/strategy/stage_memory.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "instances/numeric/numbers.h"
#include "kernels/attention/attention_stage.h"
#include "kernels/block/weight_shards.h"
#include "kernels/memory/recorded_block.h"
#include "kernels/ranks/communicator.h"

namespace stowage::kernels {
namespace {

// The widths of a rank's part of a layer and the numbers of tokens.
struct Sizes {
  std::int64_t n = 0;        // tokens of the rank
  std::int64_t all = 0;      // tokens of all ranks of cp
  std::int64_t longest = 0;  // tokens of the longest sequence
  std::int64_t h = 0, q = 0, k = 0, f = 0;
  std::int64_t lse = 0;  // lse in the block, in floats
  std::int64_t forward_scratch = 0, backward_scratch = 0;
  std::int64_t exchanged = 0;  // arrays of Ulysses, in floats
};

// Returns the floats of the arrays of UlyssesAttention: q k v o and four gradients of this rank's
// heads of all tokens, dk and dv per query head, their sums, one slice of all heads, the send
// buffer, and a workspace.
std::int64_t exchanged_floats(const BlockShape& part, const Sizes& sizes, int cp, int slice) {
  const std::int64_t heads = part.heads / cp;
  const std::int64_t group = part.heads / part.kv_heads;
  const auto kv_of = [&](std::int64_t rank) {
    return (rank * heads + heads - 1) / group - rank * heads / group + 1;
  };
  std::int64_t sent = 0;
  for (int rank = 0; rank < cp; ++rank) sent += kv_of(rank);
  const std::int64_t kv = kv_of(slice);
  const std::vector<std::int32_t> longest = {0, static_cast<std::int32_t>(sizes.longest)};
  const AttentionMemory inside = LocalAttention::memory_of({.total_q = sizes.all,
                                                            .total_k = sizes.all,
                                                            .heads = static_cast<int>(heads),
                                                            .kv_heads = static_cast<int>(kv),
                                                            .head_dim = part.head_dim,
                                                            .cu_q = {},
                                                            .cu_k = longest,
                                                            .group_size = static_cast<int>(group)});
  const std::int64_t d = part.head_dim;
  return 6 * sizes.all * heads * d + 2 * sizes.all * kv * d + 2 * heads * sizes.all +
         sizes.n * sizes.q + sizes.n * std::max<std::int64_t>(part.heads, sent) * d +
         std::max(inside.forward_scratch, inside.backward_scratch);
}

Sizes sizes_of(const StrategyTask& task, const StrategyPlace& place, int micro_batch) {
  const BlockShape part = shard_shape(task.block, task.tp);
  Sizes sizes{.h = part.hidden, .q = part.q_width(), .k = part.k_width(), .f = part.ffn};
  for (const std::int64_t id : task.rows[at(micro_batch)][at(place.replica)]) {
    sizes.all += task.lengths[at(id)];
    sizes.longest = std::max<std::int64_t>(sizes.longest, task.lengths[at(id)]);
  }
  const std::vector<std::int64_t> split = even_split(sizes.all, task.cp);
  sizes.n = split[at(place.slice + 1)] - split[at(place.slice)];
  if (task.cp > 1) {
    sizes.exchanged = exchanged_floats(part, sizes, task.cp, place.slice);
    return sizes;
  }
  const std::vector<std::int32_t> longest = {0, static_cast<std::int32_t>(sizes.longest)};
  const AttentionMemory memory = LocalAttention::memory_of({.total_q = sizes.n,
                                                            .total_k = sizes.n,
                                                            .heads = part.heads,
                                                            .kv_heads = part.kv_heads,
                                                            .head_dim = part.head_dim,
                                                            .cu_q = {},
                                                            .cu_k = longest});
  sizes.lse = 2 * sizes.n * part.heads;
  sizes.forward_scratch = memory.forward_scratch;
  sizes.backward_scratch = memory.backward_scratch;
  return sizes;
}

std::int64_t most_of(std::initializer_list<std::int64_t> moments) { return std::max(moments); }

// Returns the peak of a forward pass that keeps all its tensors.
std::int64_t forward_keeping_all(const Sizes& s) {
  const std::int64_t norm = s.n * (s.h + 1);
  const std::int64_t to_lse = s.n * (s.h + 2 * s.q + 2 * s.k) + norm + s.lse;
  const std::int64_t end = to_lse + s.n * s.h + norm + 3 * s.n * s.f;
  return s.exchanged + most_of({to_lse + s.forward_scratch, end + s.n * s.h});
}

std::int64_t forward_keeping_products(const Sizes& s) {
  const std::int64_t to_v = s.n * (s.h + s.q + 2 * s.k);
  const std::int64_t to_lse = to_v + s.n * s.q + s.lse;
  const std::int64_t to_a = to_lse + s.n * s.h;
  return s.exchanged + most_of({to_v + s.n * s.h, to_lse + s.forward_scratch,
                                to_a + s.n * (s.h + 2 * s.f), to_a + s.n * (3 * s.f + s.h)});
}

// Returns the peak over the steps of the backward pass. Live are gradients, the forward tensors
// until their last read, and recomputed tensors.
std::int64_t backward_floats(const Sizes& s, bool again) {
  const std::int64_t norm = s.n * (s.h + 1), h = s.n * s.h, f = s.n * s.f;
  const std::int64_t keys = s.n * (s.q + 2 * s.k);          // q k v, or their gradients
  const std::int64_t attention = keys + s.n * s.q + s.lse;  // q k v, o and lse
  const std::int64_t x = again ? h : h + norm;              // x and its norm
  // x to lse, and a and its norm
  const std::int64_t before = x + attention + h + (again ? 0 : norm);
  const std::int64_t late = again ? norm : 0;
  return s.exchanged +
         most_of({
             before + 3 * f + h + f,           // dy; d_product beside gate, up and product
             before + 2 * f + h + 3 * f,       // d_gate, d_up beside gate, up and d_product
             before + h + late + 2 * f + h,    // d_a_norm
             x + attention + h + s.n + 3 * h,  // d_a beside dy and d_a_norm
             x + attention + h + s.n * s.q,    // d_o
             x + attention + h + s.n * s.q + keys + s.backward_scratch,  // d_q, d_k, d_v
             x + late + h + keys + h,                                    // d_x_norm
             h + s.n + 3 * h,  // d_x beside d_a and d_x_norm
         });
}

LayerMemory most_of_each(const LayerMemory& a, const LayerMemory& b) {
  return {.kept = std::max(a.kept, b.kept),
          .forward = std::max(a.forward, b.forward),
          .backward = std::max(a.backward, b.backward),
          .ends = std::max(a.ends, b.ends),
          .output = std::max(a.output, b.output),
          .head = std::max(a.head, b.head)};
}

}  // namespace

LayerMemory layer_memory(const StrategyTask& task, int rank, int micro_batch) {
  const StrategyPlace place = place_of(task, rank);
  const Sizes s = sizes_of(task, place, micro_batch);
  LayerMemory memory{.ends = 2 * s.n * s.h};
  if (task.vocabulary > 0 && place.stage == task.pp - 1) {
    memory.output = s.n * s.h;
    memory.head = 2 * s.n * s.h + chunk_tokens(task, s.n) * (task.vocabulary / task.tp);
  }
  switch (task.recompute[at(place.stage)]) {
    case StrategyRecompute::none:
      memory.kept = s.n * (4 * s.h + 2 * s.q + 2 * s.k + 3 * s.f + 2) + s.lse + s.exchanged;
      memory.forward = forward_keeping_all(s);
      memory.backward = backward_floats(s, false);
      break;
    case StrategyRecompute::selective:
      memory.kept = s.n * (2 * s.h + 2 * s.q + 2 * s.k + 2 * s.f) + s.lse + s.exchanged;
      memory.forward = forward_keeping_products(s);
      memory.backward = backward_floats(s, true);
      break;
    case StrategyRecompute::full:
      memory.kept = s.n * s.h;
      memory.forward = memory.kept + forward_keeping_all(s);
      memory.backward = std::max(memory.forward, memory.kept + backward_floats(s, false));
      break;
  }
  return memory;
}

std::int64_t chunks_in_flight(const StrategyTask& task, int stage) {
  const std::int64_t p = task.pp, v = task.v, m = task.micro_batches();
  if (v == 1) return std::min(m, p - stage);
  return std::min(m * v, 2 * (p - stage - 1) + (v - 1) * p + 1);
}

StrategyMemory strategy_memory(const StrategyTask& task, int rank) {
  const int stage = place_of(task, rank).stage;
  const std::int64_t layers = task.layers[at(stage)] / task.v;  // layers per chunk
  std::vector<LayerMemory> each;
  // element-wise maximum: of two slices of equal length, one may belong to a longer row
  LayerMemory heaviest;
  for (int b = 0; b < task.micro_batches(); ++b) {
    each.push_back(layer_memory(task, rank, b));
    heaviest = most_of_each(heaviest, each.back());
  }
  StrategyMemory memory;
  // While a layer runs, the other held layers keep their tensors; while the head runs, all held
  // layers do. The last stage runs the last chunk backward directly after its forward pass, so that
  // only one output is kept at a time.
  const std::int64_t held_layers = chunks_in_flight(task, stage) * layers;
  const std::int64_t at_work = heaviest.ends + std::max(heaviest.forward, heaviest.backward);
  memory.planned = kFloatBytes * std::max((held_layers - 1) * heaviest.kept + at_work,
                                          held_layers * heaviest.kept + heaviest.head);
  std::set<std::pair<int, int>> held;  // (chunk, micro-batch) pairs whose tensors are kept
  std::int64_t kept = 0;               // floats of the pairs in `held`
  std::int64_t most = 0;
  for (const StagePass& pass : task.order[at(stage)]) {
    const LayerMemory& its = each[at(pass.micro_batch)];
    const std::pair which(pass.chunk, pass.micro_batch);
    const std::int64_t output = pass.chunk == task.v - 1 ? its.output : 0;
    if (held.erase(which) > 0) kept -= layers * its.kept + output;
    most = std::max(most, kept + (layers - 1) * its.kept + its.ends +
                              (pass.forward ? its.forward : its.backward));
    if (!pass.forward && output > 0) most = std::max(most, kept + layers * its.kept + its.head);
    if (!pass.forward) continue;
    held.insert(which);
    kept += layers * its.kept + output;
  }
  memory.counted = kFloatBytes * most;
  return memory;
}

}  // namespace stowage::kernels
