#include "kernels/strategy/layer_pass.h"

#include <algorithm>

#include "instances/numeric/numbers.h"
#include "kernels/block/block.h"
#include "kernels/block/weight_shards.h"

namespace stowage::kernels {
namespace {

std::vector<std::int32_t> slice_positions(std::span<const std::int32_t> cu_seqlens,
                                          std::int64_t first, std::int64_t count) {
  const std::vector<std::int32_t> all = sequence_positions(cu_seqlens, cu_seqlens.back());
  return {all.begin() + first, all.begin() + first + count};
}

std::int64_t slice_begin(const StrategyTask& task, std::int64_t tokens, int slice) {
  return even_split(tokens, task.cp)[at(slice)];
}

}  // namespace

RowPart::RowPart(const StrategyTask& task, const StrategyPlace& place, int micro_batch)
    : cu_seqlens(task.cu_seqlens(micro_batch, place.replica)),
      first(slice_begin(task, cu_seqlens.back(), place.slice)),
      tokens(slice_begin(task, cu_seqlens.back(), place.slice + 1) - first),
      part(shard_shape(task.block, task.tp)),
      shape(attention_shape(part, cu_seqlens.back(), cu_seqlens)),
      rotary(slice_positions(cu_seqlens, first, tokens), part.head_dim, part.rope_theta),
      program(part, tokens, 1, task.cp > 1 ? AttentionMemory{} : LocalAttention::memory_of(shape),
              task.recompute[at(place.stage)] == StrategyRecompute::selective ? BlockKeeps::products
                                                                              : BlockKeeps::all) {}

void LayerPass::forward(const BlockWeights<float>& weights, std::span<const float> x,
                        std::span<float> y) {
  if (sharing_.recompute != StrategyRecompute::full) return run_forward(weights, x, y);
  input_.emplace(meter_, static_cast<std::int64_t>(x.size()));
  std::ranges::copy(x, input_->all().begin());
  run_forward(weights, x, y);
  tensors_.clear();
  release_attention();
}

void LayerPass::backward(const BlockWeights<float>& weights, std::span<const float> upstream,
                         std::span<float> dx, BlockWeights<float>& gradient) {
  // The repeated forward pass also computes the output, which is not needed. It is written to dx,
  // which is free until the backward pass.
  if (input_) run_forward(weights, input_->all(), dx);
  BlockCall its = call(weights);
  its.gradients = {&gradient, 1};
  its.upstream = upstream;
  its.dx = dx;
  row_.program.run(row_.program.backward_steps(), tensors_, its);
  release_attention();
  input_.reset();
}

void LayerPass::run_forward(const BlockWeights<float>& weights, std::span<const float> x,
                            std::span<float> y) {
  make_attention();
  BlockCall its = call(weights);
  its.x = x;
  its.y = y;
  row_.program.run(row_.program.forward_steps(), tensors_, its);
}

BlockCall LayerPass::call(const BlockWeights<float>& weights) {
  AttentionStage* attention = &*local_;
  if (ulysses_) attention = &*ulysses_;
  return {.rotary = row_.rotary,
          .attention = *attention,
          .weights = {&weights, 1},
          .gradients = {},
          .x = {},
          .upstream = {},
          .y = {},
          .dx = {},
          .peers = sharing_.tp};
}

void LayerPass::make_attention() {
  local_.emplace(row_.shape);  // the new object allocates no arrays
  if (sharing_.cp == nullptr) return;
  ulysses_.emplace(*sharing_.cp, row_.shape);
  meter_.add(ulysses_->floats());
}

void LayerPass::release_attention() {
  if (!ulysses_) return;
  meter_.remove(ulysses_->floats());
  ulysses_.reset();
}

}  // namespace stowage::kernels
