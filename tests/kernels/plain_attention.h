// Attention in FP32 without blocks, lanes or a running maximum: one rounding per operation of the
// formula. Its error is the unavoidable error of FP32, which the kernels may exceed by a factor of
// at most two.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "kernels/attention/attention.h"

namespace stowage::kernels {

struct PlainAttention {
  std::vector<float> o, lse, dq, dk, dv;  // lse (heads, total_q)
};

inline PlainAttention plain_attention(const AttentionShape& shape, std::span<const float> q,
                                      std::span<const float> k, std::span<const float> v,
                                      std::span<const float> upstream) {
  const int dim = shape.head_dim;
  const auto scale = static_cast<float>(shape.logit_scale());
  PlainAttention out{.o = std::vector<float>(q.size()),
                     .lse = std::vector<float>(static_cast<std::size_t>(shape.logarithms())),
                     .dq = std::vector<float>(q.size()),
                     .dk = std::vector<float>(k.size()),
                     .dv = std::vector<float>(k.size())};
  const auto dot = [dim](const float* a, const float* b) {
    float sum = 0;
    for (int d = 0; d < dim; ++d) sum += a[d] * b[d];
    return sum;
  };
  const auto add_scaled = [dim](float* to, float factor, const float* from) {
    for (int d = 0; d < dim; ++d) to[d] += factor * from[d];
  };
  std::vector<float> p, dp;
  for (std::size_t b = 0; b + 1 < shape.cu_q.size(); ++b) {
    const std::int64_t lq = shape.cu_q[b + 1] - shape.cu_q[b];
    const std::int64_t lk = shape.cu_k[b + 1] - shape.cu_k[b];
    for (int h = 0; h < shape.heads; ++h) {
      for (std::int64_t i = 0; i < lq; ++i) {
        const std::int64_t at = ((shape.cu_q[b] + i) * shape.heads + h) * dim;
        const auto key = [&](std::size_t j) {
          const std::int64_t row = shape.cu_k[b] + static_cast<std::int64_t>(j);
          return (row * shape.kv_heads + shape.kv_head(h)) * dim;
        };
        p.resize(static_cast<std::size_t>(std::clamp<std::int64_t>(i + lk - lq + 1, 0, lk)));
        dp.resize(p.size());
        float top = -std::numeric_limits<float>::infinity(), sum = 0;
        for (std::size_t j = 0; j < p.size(); ++j) {
          p[j] = scale * dot(&q[at], &k[key(j)]);
          top = std::max(top, p[j]);
        }
        for (float& x : p) sum += (x = std::exp(x - top));
        out.lse[h * shape.total_q + shape.cu_q[b] + i] = top + std::log(sum);
        float mean = 0;
        for (std::size_t j = 0; j < p.size(); ++j) {
          p[j] /= sum;
          add_scaled(&out.o[at], p[j], &v[key(j)]);
          dp[j] = dot(&upstream[at], &v[key(j)]);
          mean += p[j] * dp[j];
        }
        for (std::size_t j = 0; j < p.size(); ++j) {
          const float ds = p[j] * (dp[j] - mean) * scale;
          const std::int64_t kv = key(j);
          add_scaled(&out.dv[kv], p[j], &upstream[at]);
          add_scaled(&out.dq[at], ds, &k[kv]);
          add_scaled(&out.dk[kv], ds, &q[at]);
        }
      }
    }
  }
  return out;
}

}  // namespace stowage::kernels
