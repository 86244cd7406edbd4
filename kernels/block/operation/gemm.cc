#include "kernels/block/operation/gemm.h"

#include <algorithm>

#include "kernels/attention/simd/isa.h"
#include "kernels/attention/simd/table.h"

namespace stowage::kernels {

void gemm(std::int64_t m, std::int64_t n, std::int64_t k, MatrixView a, MatrixView b, float* c,
          std::int64_t c_stride, Update update) {
  if (k == 0 && update == Update::assign) {
    for (std::int64_t i = 0; i < m; ++i) std::fill_n(c + i * c_stride, n, 0.0f);
  }
  if (m == 0 || n == 0 || k == 0) return;
  alignas(64) float workspace[kGemmWorkspace];  // 224 KiB, on the stack
  simd_table().gemm({.m = m,
                     .n = n,
                     .k = k,
                     .a = a.data,
                     .a_row = a.row_stride,
                     .a_column = a.column_stride,
                     .b = b.data,
                     .b_row = b.row_stride,
                     .b_column = b.column_stride,
                     .c = c,
                     .c_row = c_stride,
                     .add = update == Update::add,
                     .workspace = workspace});
}

}  // namespace stowage::kernels
