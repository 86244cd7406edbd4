#include "kernels/block/operation/swiglu.h"

#include "kernels/attention/simd/isa.h"
#include "kernels/attention/simd/table.h"

namespace stowage::kernels {

void swiglu_forward(std::span<const float> gate, std::span<const float> up, std::span<float> out) {
  simd_table().swiglu_forward({.count = std::ssize(out),
                               .gate = gate.data(),
                               .up = up.data(),
                               .dout = nullptr,
                               .out = out.data(),
                               .dgate = nullptr,
                               .dup = nullptr});
}

void swiglu_backward(std::span<const float> gate, std::span<const float> up,
                     std::span<const float> dout, std::span<float> dgate, std::span<float> dup) {
  simd_table().swiglu_backward({.count = std::ssize(dout),
                                .gate = gate.data(),
                                .up = up.data(),
                                .dout = dout.data(),
                                .out = nullptr,
                                .dgate = dgate.data(),
                                .dup = dup.data()});
}

}  // namespace stowage::kernels
