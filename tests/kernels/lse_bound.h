// A bound of the rounding error of the logarithms of attention.
//
// With u = 2^-24, a logit is a sum of n products, n channels or, beyond 128 channels, parts of 16
// and the sum of the parts, of a key with a query that was multiplied by the scale: its error is at
// most (n + 2) u times the sum of the absolute values of its terms (Higham, Accuracy and Stability
// of Numerical Algorithms, section 3.1; second-order terms take the place of the constant's slack).
// An error of every logit moves the logarithm of the sum of their exponentials by the largest of
// them at most. The sum over the keys has a chain of 128 keys of a tile and one link per tile; an
// exponential has an error of at most 4 u; the logarithm is computed to one unit and rounded to
// single precision, where it lies between its own size and that of its largest logit.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

#include "kernels/attention/attention.h"
#include "kernels/attention/simd/table.h"

namespace stowage::kernels {

// Returns the bound for query `i` of sequence `b` in one head, whose logarithm is `lse`.
inline double lse_bound(const AttentionShape& shape, std::span<const double> q,
                        std::span<const double> k, std::size_t b, std::int64_t i, int head,
                        double lse) {
  constexpr double kUnit = 1.0 / (1 << 24);
  const int dim = shape.head_dim;
  const std::int64_t keys = shape.cu_k[b + 1] - shape.cu_k[b];
  const std::int64_t end = std::clamp<std::int64_t>(i + shape.diagonal(b) + 1, 0, keys);
  const double* qi = &q[((shape.cu_q[b] + i) * shape.heads + head) * dim];
  double largest = 0;
  for (std::int64_t j = std::max<std::int64_t>(0, end - shape.visible()); j < end; ++j) {
    const double* kj = &k[((shape.cu_k[b] + j) * shape.kv_heads + shape.kv_head(head)) * dim];
    double terms = 0;
    for (int d = 0; d < dim; ++d) terms += std::abs(qi[d] * kj[d]);
    largest = std::max(largest, terms * std::abs(shape.logit_scale()));
  }
  const double links = dim > 128 ? 16 + (dim + 15) / 16 : dim;
  const double tiles = 1 + static_cast<double>(end / kKeyBlock);
  return kUnit * ((links + 2) * largest + kKeyBlock + tiles + 8 + 2 * std::abs(lse));
}

}  // namespace stowage::kernels
