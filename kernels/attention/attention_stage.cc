#include "kernels/attention/attention_stage.h"

namespace stowage::kernels {

AttentionMemory LocalAttention::memory_of(const AttentionShape& shape) {
  return {.sums = shape.lse_size(),
          .forward_scratch = forward_workspace(shape),
          .backward_scratch = backward_workspace(shape)};
}

void LocalAttention::forward(std::span<const float> q, std::span<const float> k,
                             std::span<const float> v, const StageOutput& output,
                             std::span<float> scratch) {
  attention_forward(shape_, q, k, v, output.o, output.sums, scratch);
}

void LocalAttention::backward(const AttentionBackwardInput& input, std::span<float> dq,
                              std::span<float> dk, std::span<float> dv, std::span<float> scratch) {
  attention_backward(shape_, input, mode_, dq, dk, dv, scratch);
}

}  // namespace stowage::kernels
