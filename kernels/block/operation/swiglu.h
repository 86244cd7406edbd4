// SwiGLU (Shazeer, arXiv 2002.05202, equation 6): out = silu(gate) * up, silu(g) = g / (1 + e^-g).
//
//   swiglu_forward(gate, up, out);
//   swiglu_backward(gate, up, dout, dgate, dup);
#pragma once

#include <span>

namespace stowage::kernels {

// All arrays have the same size.
void swiglu_forward(std::span<const float> gate, std::span<const float> up, std::span<float> out);

// Writes (does not add) dgate and dup.
void swiglu_backward(std::span<const float> gate, std::span<const float> up,
                     std::span<const float> dout, std::span<float> dgate, std::span<float> dup);

}  // namespace stowage::kernels
