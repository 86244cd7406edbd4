#include "kernels/retained_attention.h"

#include <algorithm>

namespace stowage::kernels {

RetainedKeys::RetainedKeys(std::int64_t length, const AttentionShape& shape, KvGradients gradients)
    : mode(gradients),
      key_width(std::int64_t{shape.kv_heads} * shape.head_dim),
      gradient_width(gradients == KvGradients::per_query_head
                         ? std::int64_t{shape.heads} * shape.head_dim
                         : key_width),
      k(length * key_width),
      v(length * key_width),
      dk(length * gradient_width),
      dv(length * gradient_width) {}

RetainedAttention::RetainedAttention(RetainedKeys& retained, const AttentionShape& chunk,
                                     std::int64_t begin)
    : retained_(retained),
      chunk_(chunk),
      begin_(begin),
      end_(begin + chunk.total_q),
      cu_q_{0, static_cast<std::int32_t>(chunk.total_q)},
      cu_k_{0, static_cast<std::int32_t>(end_)} {
  chunk_.total_k = end_;
}

AttentionShape RetainedAttention::shape() const {
  AttentionShape shape = chunk_;
  shape.cu_q = cu_q_;
  shape.cu_k = cu_k_;
  return shape;
}

AttentionMemory RetainedAttention::memory() const {
  AttentionMemory memory = LocalAttention::memory_of(shape());
  memory.backward_scratch += 2 * end_ * retained_.gradient_width;
  return memory;
}

void RetainedAttention::forward(std::span<const float> q, std::span<const float> k,
                                std::span<const float> v, const StageOutput& output,
                                std::span<float> scratch) {
  const std::int64_t width = retained_.key_width;
  std::ranges::copy(k, retained_.k.begin() + begin_ * width);
  std::ranges::copy(v, retained_.v.begin() + begin_ * width);
  attention_forward(shape(), q, retained_.k, retained_.v, output.o, output.sums, scratch);
}

void RetainedAttention::backward(const AttentionBackwardInput& input, std::span<float> dq,
                                 std::span<float> dk, std::span<float> dv,
                                 std::span<float> scratch) {
  const std::int64_t width = retained_.gradient_width, size = end_ * width;
  const std::span<float> dk_part = scratch.first(size), dv_part = scratch.subspan(size, size);
  AttentionBackwardInput whole = input;
  whole.k = retained_.k;
  whole.v = retained_.v;
  attention_backward(shape(), whole, retained_.mode, dq, dk_part, dv_part,
                     scratch.subspan(2 * size));
  for (std::int64_t i = 0; i < size; ++i) {
    retained_.dk[i] += dk_part[i];
    retained_.dv[i] += dv_part[i];
  }
  std::copy_n(retained_.dk.begin() + begin_ * width, dk.size(), dk.begin());
  std::copy_n(retained_.dv.begin() + begin_ * width, dv.size(), dv.begin());
}

}  // namespace stowage::kernels
