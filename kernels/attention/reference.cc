#include "kernels/attention/reference.h"

#include <algorithm>
#include <cmath>

#include "instances/numeric/numbers.h"
#include "kernels/threads/workers.h"

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
  std::int64_t first_key = 0;  // row of k of the first visible key
  int head = 0;
  std::vector<double> p;      // one entry per visible key
  std::vector<double> slope;  // the derivative of the soft cap for each visible key
  double sink = 0;            // the probability of the sink
  double lse = -kInfinity;
};

// Calls visit(row) for every query row of a head that belongs to a sequence.
template <class Visit>
void for_each_row(const AttentionShape& shape, int h, std::span<const double> q,
                  std::span<const double> k, Visit visit) {
  const int dim = shape.head_dim;
  const double scale = shape.logit_scale();
  for (std::size_t b = 0; b + 1 < shape.cu_q.size(); ++b) {
    const std::int64_t lq = shape.cu_q[b + 1] - shape.cu_q[b];
    const std::int64_t lk = shape.cu_k[b + 1] - shape.cu_k[b];
    for (std::int64_t i = 0; i < lq; ++i) {
      Row row{.query = shape.cu_q[b] + i, .first_key = shape.cu_k[b], .head = h};
      const std::int64_t end = std::clamp<std::int64_t>(i + shape.diagonal(b) + 1, 0, lk);
      const std::int64_t begin =
          std::clamp<std::int64_t>(i + shape.diagonal(b) + 1 - shape.visible(), 0, end);
      row.first_key += begin;
      row.p.resize(static_cast<std::size_t>(end - begin));
      row.slope.assign(row.p.size(), 1);
      const bool sink = !shape.sinks.empty();
      double largest = sink ? double{shape.sinks[static_cast<std::size_t>(h)]} : -kInfinity;
      const double start = largest;
      for (std::size_t j = 0; j < row.p.size(); ++j) {
        const std::int64_t key = row.first_key + static_cast<std::int64_t>(j);
        const double* qi = &q[(row.query * shape.heads + h) * dim];
        const double* kj = &k[(key * shape.kv_heads + shape.kv_head(h)) * dim];
        row.p[j] = scale * dot(qi, kj, dim);
        if (shape.soft_cap > 0) {
          const double tanh = std::tanh(row.p[j] / shape.soft_cap);
          row.p[j] = shape.soft_cap * tanh;
          row.slope[j] = 1 - tanh * tanh;
        }
        largest = std::max(largest, row.p[j]);
      }
      // A softmax over logits of -inf alone is that over no logits.
      const bool none = start == -kInfinity &&
                        std::ranges::all_of(row.p, [](double x) { return x == -kInfinity; });
      double sum = sink && !none ? std::exp(start - largest) : 0;
      for (double& p : row.p) sum += (p = none ? 0 : std::exp(p - largest));
      for (double& p : row.p) p = none ? 0 : p / sum;
      if (!none) row.lse = largest + std::log(sum);
      row.sink = sink && !none ? std::exp(start - row.lse) : 0;
      visit(row);
    }
  }
}

}  // namespace

AttentionOutput reference_forward(const AttentionShape& shape, std::span<const double> q,
                                  std::span<const double> k, std::span<const double> v) {
  const int dim = shape.value_width();
  AttentionOutput out{.o = std::vector<double>(shape.o_size()),
                      .lse = std::vector<double>(shape.logarithms())};
  share_work(shape.heads, [&](std::int64_t head, int) {
    for_each_row(shape, static_cast<int>(head), q, k, [&](const Row& row) {
      double* o = &out.o[(row.query * shape.heads + row.head) * dim];
      for (std::size_t j = 0; j < row.p.size(); ++j) {
        const std::int64_t key = row.first_key + static_cast<std::int64_t>(j);
        add_scaled(o, row.p[j], &v[(key * shape.kv_heads + shape.kv_head(row.head)) * dim], dim);
      }
      out.lse[row.head * shape.total_q + row.query] = row.lse;
    });
  });
  return out;
}

AttentionGradients reference_backward(const AttentionShape& shape, std::span<const double> q,
                                      std::span<const double> k, std::span<const double> v,
                                      std::span<const double> upstream) {
  const int dim = shape.head_dim, value_dim = shape.value_width();
  const double scale = shape.logit_scale();
  AttentionGradients grad{.dq = std::vector<double>(shape.q_size()),
                          .dk = std::vector<double>(shape.k_size()),
                          .dv = std::vector<double>(shape.v_size()),
                          .sinks = std::vector<double>(shape.sinks.size())};
  // Every query head has gradients of its keys and values, (total_k, channels), which are added up.
  struct OfHead {
    std::vector<double> dk, dv;
  };
  std::vector<OfHead> heads(static_cast<std::size_t>(shape.heads));
  share_work(shape.heads, [&](std::int64_t h, int) {
    OfHead& own = heads[static_cast<std::size_t>(h)];
    own.dk.resize(shape.total_k * dim);
    own.dv.resize(shape.total_k * value_dim);
    for_each_row(shape, static_cast<int>(h), q, k, [&](const Row& row) {
      const std::int64_t head = row.query * shape.heads + row.head;
      const auto kv = [&](std::size_t j) {
        const std::int64_t key = row.first_key + static_cast<std::int64_t>(j);
        return key * shape.kv_heads + shape.kv_head(row.head);
      };
      const double* up = &upstream[head * value_dim];
      std::vector<double> dp(row.p.size());
      double mean = 0;  // sum of p * dp, which the softmax gradient subtracts from every dp
      for (std::size_t j = 0; j < dp.size(); ++j) {
        dp[j] = dot(up, &v[kv(j) * value_dim], value_dim);
        mean += row.p[j] * dp[j];
      }
      for (std::size_t j = 0; j < dp.size(); ++j) {
        const std::int64_t key = row.first_key + static_cast<std::int64_t>(j);
        const double ds = row.p[j] * (dp[j] - mean) * row.slope[j] * scale;
        add_scaled(&own.dv[key * value_dim], row.p[j], up, value_dim);
        add_scaled(&grad.dq[head * dim], ds, &k[kv(j) * dim], dim);
        add_scaled(&own.dk[key * dim], ds, &q[head * dim], dim);
      }
      // The sink's dp is 0.
      if (!grad.sinks.empty()) grad.sinks[static_cast<std::size_t>(row.head)] -= row.sink * mean;
    });
  });
  for (int h = 0; h < shape.heads; ++h) {
    const OfHead& own = heads[static_cast<std::size_t>(h)];
    for (std::int64_t key = 0; key < shape.total_k; ++key) {
      const std::int64_t kv = key * shape.kv_heads + shape.kv_head(h);
      add_scaled(&grad.dk[kv * dim], 1, &own.dk[key * dim], dim);
      add_scaled(&grad.dv[kv * value_dim], 1, &own.dv[key * value_dim], value_dim);
    }
  }
  return grad;
}

}  // namespace stowage::kernels
