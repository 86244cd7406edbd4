#include "kernels/block/operation/gemm.h"

#include <algorithm>

#include "kernels/attention/simd/isa.h"
#include "kernels/attention/simd/table.h"
#include "kernels/threads/workers.h"

namespace stowage::kernels {

void gemm(std::int64_t m, std::int64_t n, std::int64_t k, MatrixView a, MatrixView b, float* c,
          std::int64_t c_stride, Update update) {
  if (k == 0 && update == Update::assign) {
    for (std::int64_t i = 0; i < m; ++i) std::fill_n(c + i * c_stride, n, 0.0f);
  }
  if (m == 0 || n == 0 || k == 0) return;
  const SimdTable& table = simd_table();
  const auto part = [&](std::int64_t i0, std::int64_t i1, std::int64_t j0, std::int64_t j1) {
    alignas(64) float workspace[kGemmWorkspace];  // 328 KiB, on the stack
    table.gemm({.m = i1 - i0,
                .n = j1 - j0,
                .k = k,
                .a = a.data + i0 * a.row_stride,
                .a_row = a.row_stride,
                .a_column = a.column_stride,
                .b = b.data + j0 * b.column_stride,
                .b_row = b.row_stride,
                .b_column = b.column_stride,
                .c = c + i0 * c_stride + j0,
                .c_row = c_stride,
                .add = update == Update::add,
                .workspace = workspace});
  };
  // The longer side is divided, because each part packs the operand of the other side.
  const auto operations = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  if (operations < kSharedOperations) return part(0, m, 0, n);
  if (m >= n) {
    share_rows(m, n * k, kMaxLanes, [&](auto begin, auto end) { part(begin, end, 0, n); });
  } else {
    share_rows(n, m * k, kMostPanel, [&](auto begin, auto end) { part(0, m, begin, end); });
  }
}

}  // namespace stowage::kernels
