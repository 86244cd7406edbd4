#include "kernels/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/gemm.h"

namespace stowage::kernels {
namespace {

constexpr std::int64_t kQueries = 64;  // rows of a tile
constexpr std::int64_t kKeys = 64;     // columns of a tile
constexpr std::int64_t kTile = kQueries * kKeys;
constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

// One sequence of the batch.
struct Segment {
  std::int64_t q0 = 0, k0 = 0;  // its first row of q and of k
  std::int64_t lq = 0, lk = 0;
  std::int64_t diagonal = 0;

  Segment(const AttentionShape& shape, std::size_t b)
      : q0(shape.cu_q[b]),
        k0(shape.cu_k[b]),
        lq(shape.cu_q[b + 1] - shape.cu_q[b]),
        lk(shape.cu_k[b + 1] - shape.cu_k[b]),
        diagonal(shape.diagonal(lq, lk)) {}
  // How many of the keys from `first_key` on query i sees, at most `width`.
  std::int64_t visible(std::int64_t i, std::int64_t first_key, std::int64_t width) const {
    return std::clamp<std::int64_t>(i + diagonal + 1 - first_key, 0, width);
  }
};

// Row addresses inside the packed arrays of one head.
struct Head {
  std::int64_t q_stride, k_stride, q_offset, k_offset;

  Head(const AttentionShape& shape, int h)
      : q_stride(std::int64_t{shape.heads} * shape.head_dim),
        k_stride(std::int64_t{shape.kv_heads} * shape.head_dim),
        q_offset(std::int64_t{h} * shape.head_dim),
        k_offset(std::int64_t{shape.kv_head(h)} * shape.head_dim) {}
  std::int64_t q(std::int64_t row) const { return row * q_stride + q_offset; }
  std::int64_t k(std::int64_t row) const { return row * k_stride + k_offset; }
};

struct ForwardTile {
  float *logits, *sums, *largest, *total;  // (64 x 64), (64 x head_dim), 64, 64
};

// Folds one row of logits into the running softmax: turns them into exp(x - largest), and
// rescales what was summed under the previous maximum.
void fold_row(float* x, std::int64_t count, std::int64_t width, float scale, float* sums, int dim,
              float& largest, float& total) {
  std::fill(x + count, x + width, 0.0f);
  if (count == 0) return;  // sees nothing here: -inf minus -inf must not be computed
  float top = largest;
  for (std::int64_t j = 0; j < count; ++j) {
    x[j] *= scale;
    top = std::max(top, x[j]);
  }
  const float shrink = std::exp(largest - top);
  float sum = 0;
  for (std::int64_t j = 0; j < count; ++j) sum += (x[j] = std::exp(x[j] - top));
  total = shrink * total + sum;
  largest = top;
  for (int d = 0; d < dim; ++d) sums[d] *= shrink;
}

}  // namespace

std::int64_t forward_workspace(const AttentionShape& shape) {
  return kTile + kQueries * shape.head_dim + 2 * kQueries;
}

std::int64_t backward_workspace(const AttentionShape& shape) {
  return 2 * kTile + 2 * kKeys * shape.head_dim + shape.lse_size();
}

void attention_forward(const AttentionShape& shape, std::span<const float> q,
                       std::span<const float> k, std::span<const float> v, std::span<float> o,
                       std::span<float> lse, std::span<float> workspace) {
  const int dim = shape.head_dim;
  const float scale = static_cast<float>(shape.logit_scale());
  ForwardTile tile{.logits = workspace.data(), .sums = workspace.data() + kTile};
  tile.largest = tile.sums + kQueries * dim;
  tile.total = tile.largest + kQueries;
  const std::int64_t used = shape.cu_q.back();
  std::fill(o.begin() + used * shape.heads * dim, o.end(), 0.0f);
  for (int h = 0; h < shape.heads; ++h) {
    std::fill_n(lse.begin() + h * shape.total_q + used, shape.total_q - used, 0.0f);
  }
  for (std::size_t b = 0; b + 1 < shape.cu_q.size(); ++b) {
    const Segment segment(shape, b);
    for (int h = 0; h < shape.heads; ++h) {
      const Head head(shape, h);
      for (std::int64_t i0 = 0; i0 < segment.lq; i0 += kQueries) {
        const std::int64_t height = std::min(kQueries, segment.lq - i0);
        std::fill_n(tile.sums, height * dim, 0.0f);
        std::fill_n(tile.largest, height, kMinusInfinity);
        std::fill_n(tile.total, height, 0.0f);
        const std::int64_t keys = segment.visible(i0 + height - 1, 0, segment.lk);
        for (std::int64_t j0 = 0; j0 < keys; j0 += kKeys) {
          const std::int64_t width = std::min(kKeys, keys - j0);
          const std::int64_t key = head.k(segment.k0 + j0);
          gemm(height, width, dim, rows(q.data() + head.q(segment.q0 + i0), head.q_stride),
               transposed(rows(k.data() + key, head.k_stride)), tile.logits, kKeys, Update::assign);
          for (std::int64_t i = 0; i < height; ++i) {
            fold_row(tile.logits + i * kKeys, segment.visible(i0 + i, j0, width), width, scale,
                     tile.sums + i * dim, dim, tile.largest[i], tile.total[i]);
          }
          gemm(height, dim, width, rows(tile.logits, kKeys), rows(v.data() + key, head.k_stride),
               tile.sums, dim, Update::add);
        }
        for (std::int64_t i = 0; i < height; ++i) {
          const std::int64_t row = segment.q0 + i0 + i;
          const bool blind = tile.total[i] == 0;
          const float inverse = blind ? 0.0f : 1.0f / tile.total[i];
          float* out = o.data() + head.q(row);
          for (int d = 0; d < dim; ++d) out[d] = tile.sums[i * dim + d] * inverse;
          lse[h * shape.total_q + row] =
              blind ? kMinusInfinity : tile.largest[i] + std::log(tile.total[i]);
        }
      }
    }
  }
}

namespace {

struct BackwardTile {
  float *p, *ds;   // (64 x 64) each
  float *dk, *dv;  // (64 x head_dim) each: one key block's sums over all queries
  float* delta;    // (heads, total_q): sum over d of o * upstream
};

// Probabilities and logit gradients of one tile, in place: p holds q k and becomes exp(scale q k -
// lse); ds holds upstream v and becomes p (ds - delta) scale.
void softmax_gradient(const BackwardTile& tile, const Segment& segment, std::int64_t i0,
                      std::int64_t j0, std::int64_t height, std::int64_t width, float scale,
                      const float* lse, const float* delta) {
  for (std::int64_t i = 0; i < height; ++i) {
    float* p = tile.p + i * kKeys;
    float* ds = tile.ds + i * kKeys;
    const std::int64_t count = segment.visible(i0 + i, j0, width);
    for (std::int64_t j = 0; j < count; ++j) {
      p[j] = std::exp(scale * p[j] - lse[i]);
      ds[j] = p[j] * (ds[j] - delta[i]) * scale;
    }
    std::fill(p + count, p + width, 0.0f);
    std::fill(ds + count, ds + width, 0.0f);
  }
}

}  // namespace

void attention_backward(const AttentionShape& shape, const AttentionBackwardInput& input,
                        KvGradients mode, std::span<float> dq, std::span<float> dk,
                        std::span<float> dv, std::span<float> workspace) {
  const int dim = shape.head_dim;
  const float scale = static_cast<float>(shape.logit_scale());
  BackwardTile tile{.p = workspace.data(), .ds = workspace.data() + kTile};
  tile.dk = tile.ds + kTile;
  tile.dv = tile.dk + kKeys * dim;
  tile.delta = tile.dv + kKeys * dim;
  std::fill(dq.begin(), dq.end(), 0.0f);
  std::fill(dk.begin(), dk.end(), 0.0f);
  std::fill(dv.begin(), dv.end(), 0.0f);
  const std::int64_t out_stride = mode == KvGradients::per_query_head
                                      ? std::int64_t{shape.heads} * dim
                                      : std::int64_t{shape.kv_heads} * dim;
  for (std::size_t b = 0; b + 1 < shape.cu_q.size(); ++b) {
    const Segment segment(shape, b);
    for (int h = 0; h < shape.heads; ++h) {
      const Head head(shape, h);
      const std::int64_t out_offset =
          mode == KvGradients::per_query_head ? std::int64_t{h} * dim : head.k_offset;
      const float* lse = input.lse.data() + h * shape.total_q + segment.q0;
      float* delta = tile.delta + h * shape.total_q + segment.q0;
      for (std::int64_t i = 0; i < segment.lq; ++i) {
        const float* o = input.o.data() + head.q(segment.q0 + i);
        const float* upstream = input.upstream.data() + head.q(segment.q0 + i);
        // In FP32 and in the order of the product that makes dp: where one key takes all, dp and
        // delta round alike and cancel exactly, as they do in real arithmetic.
        float sum = 0;
        for (int d = 0; d < dim; ++d) sum += upstream[d] * o[d];
        delta[i] = sum;
      }
      for (std::int64_t j0 = 0; j0 < segment.lk; j0 += kKeys) {
        const std::int64_t block = std::min(kKeys, segment.lk - j0);
        const MatrixView k_block = rows(input.k.data() + head.k(segment.k0 + j0), head.k_stride);
        const MatrixView v_block = rows(input.v.data() + head.k(segment.k0 + j0), head.k_stride);
        std::fill_n(tile.dk, block * dim, 0.0f);
        std::fill_n(tile.dv, block * dim, 0.0f);
        // Queries before this one see no key of the block; query blocks stay anchored at 0.
        const std::int64_t first = std::max<std::int64_t>(0, j0 - segment.diagonal);
        for (std::int64_t i0 = first / kQueries * kQueries; i0 < segment.lq; i0 += kQueries) {
          const std::int64_t height = std::min(kQueries, segment.lq - i0);
          const std::int64_t width = segment.visible(i0 + height - 1, j0, block);
          const std::int64_t at = head.q(segment.q0 + i0);
          const MatrixView q_block = rows(input.q.data() + at, head.q_stride);
          const MatrixView upstream = rows(input.upstream.data() + at, head.q_stride);
          gemm(height, width, dim, q_block, transposed(k_block), tile.p, kKeys, Update::assign);
          gemm(height, width, dim, upstream, transposed(v_block), tile.ds, kKeys, Update::assign);
          softmax_gradient(tile, segment, i0, j0, height, width, scale, lse + i0, delta + i0);
          gemm(width, dim, height, transposed(rows(tile.p, kKeys)), upstream, tile.dv, dim,
               Update::add);
          gemm(width, dim, height, transposed(rows(tile.ds, kKeys)), q_block, tile.dk, dim,
               Update::add);
          gemm(height, dim, width, rows(tile.ds, kKeys), k_block, dq.data() + at, head.q_stride,
               Update::add);
        }
        for (std::int64_t j = 0; j < block; ++j) {
          const std::int64_t at = (segment.k0 + j0 + j) * out_stride + out_offset;
          for (int d = 0; d < dim; ++d) dk[at + d] += tile.dk[j * dim + d];
          for (int d = 0; d < dim; ++d) dv[at + d] += tile.dv[j * dim + d];
        }
      }
    }
  }
}

void sum_kv_gradients(std::int64_t row_count, int heads, int kv_heads, int head_dim,
                      std::span<const float> per_query_head, std::span<float> per_kv_head) {
  std::fill(per_kv_head.begin(), per_kv_head.end(), 0.0f);
  const int group = heads / kv_heads;
  for (std::int64_t row = 0; row < row_count; ++row) {
    for (int h = 0; h < heads; ++h) {
      const float* from = &per_query_head[(row * heads + h) * head_dim];
      float* to = &per_kv_head[(row * kv_heads + h / group) * head_dim];
      for (int d = 0; d < head_dim; ++d) to[d] += from[d];
    }
  }
}

}  // namespace stowage::kernels
