// Attention in double precision by its definition: the reference for the tests of the fast kernels.
//
// One loop per symbol of the formula, no blocks, no running maximum. Source of the definition:
// Vaswani et al. (arXiv 1706.03762, section 3.2.1); of its gradient: FlashAttention-2 (arXiv
// 2307.08691, section 2.2). The reference shares only the shape with attention.cc.
//
//   AttentionOutput out = reference_forward(shape, q, k, v);
//   AttentionGradients grad = reference_backward(shape, q, k, v, upstream);
#pragma once

#include <span>
#include <vector>

#include "kernels/attention/attention.h"

namespace stowage::kernels {

struct AttentionOutput {
  std::vector<double> o;    // (total_q, heads, value_dim)
  std::vector<double> lse;  // (heads, total_q): natural log of the sum of exp of the scaled logits
};

struct AttentionGradients {
  std::vector<double> dq, dk, dv;  // shaped like q, k, v
  std::vector<double> sinks;       // like the shape's
};

// Requires check(shape).empty() and arrays of the documented sizes. The time is O(sum Lq Lk heads
// head_dim).
AttentionOutput reference_forward(const AttentionShape& shape, std::span<const double> q,
                                  std::span<const double> k, std::span<const double> v);

// Returns the gradient of sum(o * upstream) with respect to q, k and v. The function recomputes the
// forward pass.
AttentionGradients reference_backward(const AttentionShape& shape, std::span<const double> q,
                                      std::span<const double> k, std::span<const double> v,
                                      std::span<const double> upstream);

}  // namespace stowage::kernels
