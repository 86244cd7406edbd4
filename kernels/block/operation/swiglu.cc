#include "kernels/block/operation/swiglu.h"

#include "kernels/attention/simd/isa.h"
#include "kernels/attention/simd/table.h"
#include "kernels/threads/workers.h"

namespace stowage::kernels {

void swiglu_forward(std::span<const float> gate, std::span<const float> up, std::span<float> out) {
  const SimdTable& table = simd_table();
  share_rows(std::ssize(out), 1, kMaxLanes, [&](std::int64_t begin, std::int64_t end) {
    table.swiglu_forward({.count = end - begin,
                          .gate = gate.data() + begin,
                          .up = up.data() + begin,
                          .dout = nullptr,
                          .out = out.data() + begin,
                          .dgate = nullptr,
                          .dup = nullptr});
  });
}

void swiglu_backward(std::span<const float> gate, std::span<const float> up,
                     std::span<const float> dout, std::span<float> dgate, std::span<float> dup) {
  const SimdTable& table = simd_table();
  share_rows(std::ssize(dout), 1, kMaxLanes, [&](std::int64_t begin, std::int64_t end) {
    table.swiglu_backward({.count = end - begin,
                           .gate = gate.data() + begin,
                           .up = up.data() + begin,
                           .dout = dout.data() + begin,
                           .out = nullptr,
                           .dgate = dgate.data() + begin,
                           .dup = dup.data() + begin});
  });
}

}  // namespace stowage::kernels
