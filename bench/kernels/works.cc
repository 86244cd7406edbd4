#include "bench/kernels/works.h"

#include <algorithm>
#include <span>
#include <vector>

#include "instances/numeric/numbers.h"
#include "kernels/attention/attention.h"
#include "kernels/attention/simd/isa.h"
#include "kernels/attention/simd/table.h"
#include "kernels/block/block.h"
#include "kernels/block/operation/gemm.h"
#include "kernels/block/operation/swiglu.h"
#include "kernels/block/operation/vocabulary_head.h"

namespace stowage::bench {
namespace {

// Returns at least `floats` floats, the same ones in every call.
std::span<float> workspace(std::int64_t floats) {
  static std::vector<float> held;
  if (held.size() < at(floats)) held.resize(at(floats));
  return held;
}

template <class Float>
std::span<Float> floats(Float* from, std::int64_t count) {
  return {from, at(count)};
}

kernels::AttentionShape shape_of(const StowageAttention& task) {
  const std::span<const std::int32_t> cu(task.cu, at(task.sequences + 1));
  return {.total_q = cu.back(),
          .total_k = cu.back(),
          .heads = task.heads,
          .kv_heads = task.kv_heads,
          .head_dim = task.dim,
          .cu_q = cu,
          .cu_k = cu};
}

struct Block {
  kernels::BlockShape shape;
  std::vector<std::int32_t> cu;
  kernels::BlockWeights<float> weights;
  kernels::BlockWeights<float> gradient = kernels::zero_weights<float>(shape);
  kernels::LocalAttention attention{kernels::attention_shape(shape, cu.back(), cu)};
  kernels::BlockPass pass{shape, kernels::sequence_positions(cu, cu.back()), attention};
};

}  // namespace
}  // namespace stowage::bench

using namespace stowage;  // NOLINT(google-build-using-namespace): the functions below are C's

int stowage_use_level(const char* level) { return kernels::use_isa(level) ? 1 : 0; }

double stowage_multiply_add(std::int64_t rounds) {
  [[maybe_unused]] volatile float kept = kernels::simd_table().multiply_add(rounds);
  return 2400.0 * kernels::simd_table().lanes * static_cast<double>(rounds);
}

void stowage_product(std::int64_t m, std::int64_t n, std::int64_t k, const float* a,
                     std::int64_t a_row, std::int64_t a_column, const float* b, std::int64_t b_row,
                     std::int64_t b_column, float* c) {
  kernels::gemm(m, n, k, {a, a_row, a_column}, {b, b_row, b_column}, c, n, kernels::Update::assign);
}

void stowage_attention_forward(const StowageAttention* task) {
  using bench::floats;
  const kernels::AttentionShape shape = bench::shape_of(*task);
  kernels::attention_forward(shape, floats(task->q, shape.q_size()),
                             floats(task->k, shape.k_size()), floats(task->v, shape.v_size()),
                             floats(task->o, shape.o_size()), floats(task->lse, shape.lse_size()),
                             bench::workspace(kernels::forward_workspace(shape)));
}

void stowage_attention_backward(const StowageAttention* task) {
  using bench::floats;
  const kernels::AttentionShape shape = bench::shape_of(*task);
  kernels::attention_backward(shape,
                              {.q = floats(task->q, shape.q_size()),
                               .k = floats(task->k, shape.k_size()),
                               .v = floats(task->v, shape.v_size()),
                               .o = floats(task->o, shape.o_size()),
                               .lse = floats(task->lse, shape.lse_size()),
                               .upstream = floats(task->upstream, shape.o_size())},
                              kernels::KvGradients::per_kv_head, floats(task->dq, shape.q_size()),
                              floats(task->dk, shape.k_size()), floats(task->dv, shape.v_size()),
                              bench::workspace(kernels::backward_workspace(shape)));
}

void stowage_swiglu_forward(std::int64_t count, const float* gate, const float* up, float* out) {
  const std::size_t size = at(count);
  kernels::swiglu_forward({gate, size}, {up, size}, {out, size});
}

void stowage_swiglu_backward(std::int64_t count, const float* gate, const float* up,
                             const float* dout, float* dgate, float* dup) {
  const std::size_t size = at(count);
  kernels::swiglu_backward({gate, size}, {up, size}, {dout, size}, {dgate, size}, {dup, size});
}

double stowage_head(std::int64_t tokens, std::int32_t hidden, std::int64_t vocabulary,
                    const float* y, const float* weights, const std::int32_t* targets,
                    float* logits, float* dy, float* gradient) {
  const std::size_t size = at(hidden * vocabulary);
  std::fill_n(gradient, size, 0.0f);
  return kernels::head_chunk(
      {.hidden = hidden, .first = 0, .columns = vocabulary, .peers = nullptr}, {weights, size},
      {.y = {y, at(tokens * hidden)}, .targets = {targets, at(tokens)}},
      {logits, at(tokens * vocabulary)}, {dy, at(tokens * hidden)}, {gradient, size});
}

void* stowage_block(StowageBlockShape shape, std::int64_t sequences, const std::int32_t* cu,
                    const float* const* weights) {
  const kernels::BlockShape wanted{.hidden = shape.hidden,
                                   .heads = shape.heads,
                                   .kv_heads = shape.kv_heads,
                                   .head_dim = shape.head_dim,
                                   .ffn = shape.ffn};
  auto* block = new bench::Block{.shape = wanted,
                                 .cu = std::vector<std::int32_t>(cu, cu + sequences + 1),
                                 .weights = kernels::zero_weights<float>(wanted)};
  for (const auto& tensor : block->weights.tensors()) {
    std::copy_n(*weights++, tensor->size(), tensor->begin());
  }
  return block;
}

void stowage_block_step(void* block, const float* x, const float* upstream, float* y, float* dx) {
  auto& held = *static_cast<bench::Block*>(block);
  const std::size_t size = at(std::int64_t{held.cu.back()} * held.shape.hidden);
  for (const auto& tensor : held.gradient.tensors()) std::ranges::fill(*tensor, 0.0f);
  held.pass.forward(held.weights, {x, size}, {y, size});
  held.pass.backward(held.weights, {upstream, size}, {dx, size}, held.gradient);
}

void stowage_block_end(void* block) { delete static_cast<bench::Block*>(block); }
