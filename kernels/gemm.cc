#include "kernels/gemm.h"

#include <algorithm>
#include <cstring>

namespace stowage::kernels {
namespace {

// Four rows by eight columns of C stay in registers; a panel of B (256 x 8) stays in the cache.
constexpr int kRows = 4;
constexpr int kColumns = 8;
constexpr std::int64_t kDepth = 256;

using Lane = float __attribute__((vector_size(16)));
constexpr int kLanes = kColumns / 4;

struct Panel {
  alignas(64) float values[kDepth][kColumns];
};

void pack(Panel& panel, MatrixView b, std::int64_t first_row, std::int64_t first_column,
          std::int64_t depth, std::int64_t width) {
  const float* from = b.data + first_row * b.row_stride + first_column * b.column_stride;
  for (std::int64_t p = 0; p < depth; ++p, from += b.row_stride) {
    float* to = panel.values[p];
    for (std::int64_t j = 0; j < width; ++j) to[j] = from[j * b.column_stride];
    for (std::int64_t j = width; j < kColumns; ++j) to[j] = 0;
  }
}

template <int R>
void tile(const Panel& panel, std::int64_t depth, std::int64_t width, const float* a,
          std::int64_t row_stride, std::int64_t column_stride, float* c, std::int64_t c_stride,
          bool add) {
  Lane sum[R][kLanes] = {};
  for (std::int64_t p = 0; p < depth; ++p, a += column_stride) {
    Lane b[kLanes];
    std::memcpy(b, panel.values[p], sizeof(b));
    for (int r = 0; r < R; ++r) {
      const float factor = a[r * row_stride];
      for (int l = 0; l < kLanes; ++l) sum[r][l] += factor * b[l];
    }
  }
  for (int r = 0; r < R; ++r, c += c_stride) {
    for (std::int64_t j = 0; j < width; ++j) {
      const float value = sum[r][j / 4][j % 4];
      c[j] = add ? c[j] + value : value;
    }
  }
}

}  // namespace

void gemm(std::int64_t m, std::int64_t n, std::int64_t k, MatrixView a, MatrixView b, float* c,
          std::int64_t c_stride, Update update) {
  if (k == 0 && update == Update::assign) {
    for (std::int64_t i = 0; i < m; ++i) std::fill_n(c + i * c_stride, n, 0.0f);
  }
  if (m == 0) return;  // nothing to multiply the panels with
  Panel panel;
  for (std::int64_t p0 = 0; p0 < k; p0 += kDepth) {
    const std::int64_t depth = std::min(kDepth, k - p0);
    const bool add = update == Update::add || p0 > 0;
    for (std::int64_t j0 = 0; j0 < n; j0 += kColumns) {
      const std::int64_t width = std::min<std::int64_t>(kColumns, n - j0);
      pack(panel, b, p0, j0, depth, width);
      std::int64_t i = 0;
      for (; i + kRows <= m; i += kRows) {
        tile<kRows>(panel, depth, width, a.data + i * a.row_stride + p0 * a.column_stride,
                    a.row_stride, a.column_stride, c + i * c_stride + j0, c_stride, add);
      }
      for (; i < m; ++i) {
        tile<1>(panel, depth, width, a.data + i * a.row_stride + p0 * a.column_stride, a.row_stride,
                a.column_stride, c + i * c_stride + j0, c_stride, add);
      }
    }
  }
}

}  // namespace stowage::kernels
