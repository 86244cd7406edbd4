// Linear layers without bias: y = x W, with W (in, out) row-major.
//
//   linear_forward(tokens, in, out, x, w, y, Update::assign);
//   linear_backward(tokens, in, out, x, w, dy, dx, Update::assign, dw);
#pragma once

#include <cstdint>
#include <span>

#include "kernels/block/operation/gemm.h"

namespace stowage::kernels {

// x (n, in), y (n, out). Update::add adds the product to y, for a residual connection.
inline void linear_forward(std::int64_t n, std::int64_t in, std::int64_t out,
                           std::span<const float> x, std::span<const float> w, std::span<float> y,
                           Update update) {
  gemm(n, out, in, rows(x.data(), in), rows(w.data(), out), y.data(), out, update);
}

// dx = or += dy W^T.
inline void linear_backward_input(std::int64_t n, std::int64_t in, std::int64_t out,
                                  std::span<const float> w, std::span<const float> dy,
                                  std::span<float> dx, Update update) {
  gemm(n, in, out, rows(dy.data(), out), transposed(rows(w.data(), out)), dx.data(), in, update);
}

// dw = or += x^T dy.
inline void linear_backward_weight(std::int64_t n, std::int64_t in, std::int64_t out,
                                   std::span<const float> x, std::span<const float> dy,
                                   std::span<float> dw, Update update) {
  gemm(in, out, n, transposed(rows(x.data(), in)), rows(dy.data(), out), dw.data(), out, update);
}

// dx = or += dy W^T; dw += x^T dy.
inline void linear_backward(std::int64_t n, std::int64_t in, std::int64_t out,
                            std::span<const float> x, std::span<const float> w,
                            std::span<const float> dy, std::span<float> dx, Update update_dx,
                            std::span<float> dw) {
  linear_backward_input(n, in, out, w, dy, dx, update_dx);
  linear_backward_weight(n, in, out, x, dy, dw, Update::add);
}

}  // namespace stowage::kernels
