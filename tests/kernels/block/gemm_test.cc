#include "kernels/block/operation/gemm.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "tests/kernels/numbers.h"

namespace stowage::kernels::block_gemm_test {
namespace {

enum class Layout { rows, columns, apart };  // contiguous rows, contiguous columns, neither

// A matrix of `m` x `n` in some layout.
struct Stored {
  std::vector<float> data;
  MatrixView view;

  Stored(std::int64_t m, std::int64_t n, Layout layout, std::int64_t tag) {
    data = normal_values(3 * (m + 1) * (n + 1), tag);
    if (layout == Layout::rows) view = rows(data.data(), n + 1);
    if (layout == Layout::columns) view = transposed(rows(data.data(), m + 1));
    if (layout == Layout::apart) view = {data.data(), 3 * n, 2};
  }
  double at(std::int64_t i, std::int64_t j) const {
    return view.data[i * view.row_stride + j * view.column_stride];
  }
};

struct Size {
  std::int64_t m, n, k;
};

TEST(Gemm, MatchesDoubleForEveryLayoutAndEdge) {
  const std::vector<Size> sizes = {{1, 1, 1},     {6, 64, 128}, {7, 65, 129}, {5, 15, 127},
                                   {13, 33, 300}, {400, 3, 9},  {385, 17, 5}, {2, 200, 64},
                                   {3, 300, 130}, {12, 530, 9}, {30, 513, 7}};
  for (const auto [m, n, k] : sizes) {
    for (const Layout la : {Layout::rows, Layout::columns, Layout::apart}) {
      for (const Layout lb : {Layout::rows, Layout::columns, Layout::apart}) {
        for (const Update update : {Update::assign, Update::add}) {
          const Stored a(m, k, la, 1), b(k, n, lb, 2);
          const std::int64_t stride = n + 3;
          const std::vector<float> before = normal_values(m * stride, 3);
          std::vector<float> c = before;
          gemm(m, n, k, a.view, b.view, c.data(), stride, update);
          for (std::int64_t i = 0; i < m; ++i) {
            for (std::int64_t j = 0; j < stride; ++j) {
              const float had = before[i * stride + j], have = c[i * stride + j];
              if (j >= n) {
                ASSERT_EQ(have, had) << "written beyond the row";
                continue;
              }
              double want = update == Update::add ? had : 0, size = std::abs(want);
              for (std::int64_t p = 0; p < k; ++p) {
                want += a.at(i, p) * b.at(p, j);
                size += std::abs(a.at(i, p) * b.at(p, j));
              }
              ASSERT_NEAR(have, want, 1e-6 * size) << m << ' ' << n << ' ' << k;
            }
          }
        }
      }
    }
  }
}

TEST(Gemm, NothingToAddUpIsZero) {
  std::vector<float> c(6, 5);
  gemm(2, 3, 0, rows(nullptr, 0), rows(nullptr, 3), c.data(), 3, Update::add);
  EXPECT_EQ(c, std::vector<float>(6, 5));
  gemm(2, 3, 0, rows(nullptr, 0), rows(nullptr, 3), c.data(), 3, Update::assign);
  EXPECT_EQ(c, std::vector<float>(6, 0));
}

// Floats that end where memory may be read no further.
class Guarded {
 public:
  explicit Guarded(std::int64_t count) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const auto bytes = static_cast<std::size_t>(count) * sizeof(float);
    size_ = (bytes + page - 1) / page * page + page;
    mapped_ = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(mapped_, MAP_FAILED);
    auto* end = static_cast<std::byte*>(mapped_) + size_ - page;
    EXPECT_EQ(mprotect(end, page, PROT_NONE), 0);
    data_ = reinterpret_cast<float*>(end - bytes);
    std::fill_n(data_, count, 1.0f);
  }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  ~Guarded() { munmap(mapped_, size_); }
  float* data() const { return data_; }

 private:
  void* mapped_ = nullptr;
  std::size_t size_ = 0;
  float* data_ = nullptr;
};

TEST(Gemm, ReadsAndWritesNothingBehindItsMatrices) {
  constexpr std::int64_t kK = 130;
  for (const std::int64_t m : {1, 6, 8, 12, 13, 40}) {
    for (const std::int64_t n : {1, 15, 16, 64, 70, 256, 272, 300}) {
      const Guarded a(m * kK), b(kK * n), c(m * n);
      gemm(m, n, kK, rows(a.data(), kK), rows(b.data(), n), c.data(), n, Update::assign);
      EXPECT_EQ(c.data()[m * n - 1], static_cast<float>(kK));
      gemm(m, n, kK, transposed(rows(a.data(), m)), transposed(rows(b.data(), kK)), c.data(), n,
           Update::add);
      EXPECT_EQ(c.data()[m * n - 1], static_cast<float>(2 * kK));
    }
  }
}

// The executor's comparisons rely on this property.
TEST(Gemm, AnElementDoesNotDependOnItsPlace) {
  constexpr std::int64_t kM = 391, kN = 330, kK = 333;
  const std::vector<float> a = normal_values(kM * kK, 1), b = normal_values(kK * kN, 2);
  std::vector<float> whole(kM * kN);
  gemm(kM, kN, kK, rows(a.data(), kK), rows(b.data(), kN), whole.data(), kN, Update::assign);
  for (const std::int64_t i : {0, 5, 6, 100, 383, 384, 390}) {
    for (const std::int64_t j : {0, 3, 15, 16, 63, 64, 69, 257, 329}) {
      for (const std::int64_t m : {1, 2, 5, 13}) {
        const std::int64_t n = std::min<std::int64_t>(1 + 20 * m, kN - j);
        if (i + m > kM) continue;
        std::vector<float> part(m * n);
        gemm(m, n, kK, rows(a.data() + i * kK, kK), rows(b.data() + j, kN), part.data(), n,
             Update::assign);
        for (std::int64_t r = 0; r < m; ++r) {
          for (std::int64_t c = 0; c < n; ++c) {
            ASSERT_EQ(part[r * n + c], whole[(i + r) * kN + j + c]) << i << ' ' << j << ' ' << m;
          }
        }
      }
    }
  }
  // Transposing a view does not change the order of a sum either.
  std::vector<float> turned(kN * kM);
  gemm(kN, kM, kK, transposed(rows(b.data(), kN)), transposed(rows(a.data(), kK)), turned.data(),
       kM, Update::assign);
  for (std::int64_t i = 0; i < kM; ++i) {
    for (std::int64_t j = 0; j < kN; ++j) EXPECT_EQ(turned[j * kM + i], whole[i * kN + j]);
  }
}

}  // namespace
}  // namespace stowage::kernels::block_gemm_test
