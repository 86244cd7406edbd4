#include "kernels/block/operation/swiglu.h"

#include <cmath>

namespace stowage::kernels {
namespace {

// The limits are exact: e^-g overflows to infinity for very negative g, and 1 / infinity is 0.
float sigmoid(float g) { return 1.0f / (1.0f + std::exp(-g)); }

}  // namespace

void swiglu_forward(std::span<const float> gate, std::span<const float> up, std::span<float> out) {
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = gate[i] * sigmoid(gate[i]) * up[i];
}

void swiglu_backward(std::span<const float> gate, std::span<const float> up,
                     std::span<const float> dout, std::span<float> dgate, std::span<float> dup) {
  for (std::size_t i = 0; i < dout.size(); ++i) {
    const float s = sigmoid(gate[i]);
    dup[i] = dout[i] * gate[i] * s;
    dgate[i] = dout[i] * up[i] * s * (1.0f + gate[i] * (1.0f - s));
  }
}

}  // namespace stowage::kernels
