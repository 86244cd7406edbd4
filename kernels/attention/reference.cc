#include "kernels/attention/reference.h"

#include <algorithm>
#include <cmath>

#include "instances/numeric/numbers.h"

namespace stowage::kernels {
namespace {

// Four partial sums, so that consecutive additions are independent.
double dot(const double* a, const double* b, int n) {
  double sums[4] = {};
  int d = 0;
  for (; d + 4 <= n; d += 4) {
    for (int s = 0; s < 4; ++s) sums[s] += a[d + s] * b[d + s];
  }
  for (; d < n; ++d) sums[0] += a[d] * b[d];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

void add_scaled(double* to, double factor, const double* from, int n) {
  for (int d = 0; d < n; ++d) to[d] += factor * from[d];
}

// One query row: the keys that it sees and their probabilities.
struct Row {
  std::int64_t query = 0;      // row of q
  std::int64_t first_key = 0;  // row of k
  int head = 0;
  std::vector<double> p;  // one entry per visible key
  double lse = -kInfinity;
};

// Calls visit(row) for every query row that belongs to a sequence.
template <class Visit>
void for_each_row(const AttentionShape& shape, std::span<const double> q, std::span<const double> k,
                  Visit visit) {
  const int dim = shape.head_dim;
  for (std::size_t b = 0; b + 1 < shape.cu_q.size(); ++b) {
    const std::int64_t lq = shape.cu_q[b + 1] - shape.cu_q[b];
    const std::int64_t lk = shape.cu_k[b + 1] - shape.cu_k[b];
    for (int h = 0; h < shape.heads; ++h) {
      for (std::int64_t i = 0; i < lq; ++i) {
        Row row{.query = shape.cu_q[b] + i, .first_key = shape.cu_k[b], .head = h};
        const std::int64_t visible =
            std::clamp<std::int64_t>(i + shape.diagonal(lq, lk) + 1, 0, lk);
        row.p.resize(static_cast<std::size_t>(visible));
        double largest = -kInfinity;
        for (std::int64_t j = 0; j < visible; ++j) {
          const double* qi = &q[(row.query * shape.heads + h) * dim];
          const double* kj = &k[((row.first_key + j) * shape.kv_heads + shape.kv_head(h)) * dim];
          row.p[j] = shape.logit_scale() * dot(qi, kj, dim);
          largest = std::max(largest, row.p[j]);
        }
        double sum = 0;
        for (double& p : row.p) sum += (p = std::exp(p - largest));
        for (double& p : row.p) p /= sum;
        if (visible > 0) row.lse = largest + std::log(sum);
        visit(row);
      }
    }
  }
}

}  // namespace

AttentionOutput reference_forward(const AttentionShape& shape, std::span<const double> q,
                                  std::span<const double> k, std::span<const double> v) {
  const int dim = shape.head_dim;
  AttentionOutput out{.o = std::vector<double>(shape.q_size()),
                      .lse = std::vector<double>(shape.logarithms())};
  for_each_row(shape, q, k, [&](const Row& row) {
    double* o = &out.o[(row.query * shape.heads + row.head) * dim];
    for (std::size_t j = 0; j < row.p.size(); ++j) {
      const std::int64_t key = row.first_key + static_cast<std::int64_t>(j);
      add_scaled(o, row.p[j], &v[(key * shape.kv_heads + shape.kv_head(row.head)) * dim], dim);
    }
    out.lse[row.head * shape.total_q + row.query] = row.lse;
  });
  return out;
}

AttentionGradients reference_backward(const AttentionShape& shape, std::span<const double> q,
                                      std::span<const double> k, std::span<const double> v,
                                      std::span<const double> upstream) {
  const int dim = shape.head_dim;
  AttentionGradients grad{.dq = std::vector<double>(shape.q_size()),
                          .dk = std::vector<double>(shape.k_size()),
                          .dv = std::vector<double>(shape.k_size())};
  for_each_row(shape, q, k, [&](const Row& row) {
    const std::int64_t at = (row.query * shape.heads + row.head) * dim;
    const auto kv = [&](std::size_t j) {
      const std::int64_t key = row.first_key + static_cast<std::int64_t>(j);
      return (key * shape.kv_heads + shape.kv_head(row.head)) * dim;
    };
    std::vector<double> dp(row.p.size());
    double mean = 0;  // sum of p * dp, which the softmax gradient subtracts from every dp
    for (std::size_t j = 0; j < dp.size(); ++j) {
      dp[j] = dot(&upstream[at], &v[kv(j)], dim);
      mean += row.p[j] * dp[j];
    }
    for (std::size_t j = 0; j < dp.size(); ++j) {
      const double ds = row.p[j] * (dp[j] - mean) * shape.logit_scale();
      add_scaled(&grad.dv[kv(j)], row.p[j], &upstream[at], dim);
      add_scaled(&grad.dq[at], ds, &k[kv(j)], dim);
      add_scaled(&grad.dk[kv(j)], ds, &q[at], dim);
    }
  });
  return grad;
}

}  // namespace stowage::kernels
