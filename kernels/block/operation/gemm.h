// FP32 matrix product: C (m x n) = or += A (m x k) B (k x n).
//
// A and B are strided views, so a transpose is a view without a copy; C is row-major. gemm()
// allocates nothing. Every element of C is summed over k in one fixed order (blocks of 128, each in
// ascending order), independent of m, n and the element's place in C. So a token's row has the same
// bits in every batch, which the executor's comparisons require. Large
// products are shared with the workers of the calling thread (kernels/threads/workers.h).
//
//   gemm(tokens, out, in, rows(x, in), rows(w, out), y, out, Update::assign);          // y  = x w
//   gemm(in, out, tokens, transposed(rows(x, in)), rows(dy, out), dw, out, Update::add);
#pragma once

#include <cstdint>

namespace stowage::kernels {

struct MatrixView {
  const float* data = nullptr;
  std::int64_t row_stride = 0;  // in elements
  std::int64_t column_stride = 1;
};

inline MatrixView rows(const float* data, std::int64_t row_stride) { return {data, row_stride, 1}; }
inline MatrixView transposed(MatrixView view) {
  return {view.data, view.column_stride, view.row_stride};
}

enum class Update { assign, add };

// `c_stride` is the distance between rows of C in elements. C must not overlap A or B.
void gemm(std::int64_t m, std::int64_t n, std::int64_t k, MatrixView a, MatrixView b, float* c,
          std::int64_t c_stride, Update update);

}  // namespace stowage::kernels
