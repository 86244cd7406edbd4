// The two LAPACK routines that CoinUtils calls, for programs that link COIN-OR's archives. With
// them no LAPACK library is loaded. A threaded OpenBLAS would start threads before main(), and
// would wait without end if memory or threads are short.
//
// Matrices are stored by columns as in LAPACK, pivots count from 1, and every argument is passed by
// its address. Wrong arguments are not checked.
#include "solvers/lp/lapack.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace {

// A matrix stored by columns in the caller's array.
struct Matrix {
  double* first;
  std::ptrdiff_t stride;
  double* column(int j) const { return first + j * stride; }
};

// Solves for one right-hand side: swaps, then L, then U.
void solve(const Matrix& a, int n, const int* pivots, double* x) {
  for (int i = 0; i < n; ++i) std::swap(x[i], x[pivots[i] - 1]);
  for (int j = 0; j < n; ++j) {
    const double* l = a.column(j);
    for (int i = j + 1; i < n; ++i) x[i] -= l[i] * x[j];
  }
  for (int j = n - 1; j >= 0; --j) {
    const double* u = a.column(j);
    x[j] /= u[j];
    for (int i = 0; i < j; ++i) x[i] -= u[i] * x[j];
  }
}

// Solves with the transposed matrix, in reverse order: U', L', swaps.
void solve_transposed(const Matrix& a, int n, const int* pivots, double* x) {
  for (int j = 0; j < n; ++j) {
    const double* u = a.column(j);
    for (int i = 0; i < j; ++i) x[j] -= u[i] * x[i];
    x[j] /= u[j];
  }
  for (int j = n - 1; j >= 0; --j) {
    const double* l = a.column(j);
    for (int i = j + 1; i < n; ++i) x[j] -= l[i] * x[i];
  }
  for (int i = n - 1; i >= 0; --i) std::swap(x[i], x[pivots[i] - 1]);
}

}  // namespace

extern "C" void dgetrf_(const int* rows, const int* columns, double* a, const int* stride,
                        int* pivots, int* info) {
  const Matrix matrix{a, *stride};
  *info = 0;
  for (int j = 0; j < std::min(*rows, *columns); ++j) {
    double* const pivot_column = matrix.column(j);
    int pivot = j;
    for (int i = j + 1; i < *rows; ++i) {
      if (std::abs(pivot_column[i]) > std::abs(pivot_column[pivot])) pivot = i;
    }
    pivots[j] = pivot + 1;
    if (pivot_column[pivot] == 0) {
      if (*info == 0) *info = j + 1;  // singular; the other columns are factored
      continue;
    }
    if (pivot != j) {
      for (int k = 0; k < *columns; ++k) std::swap(matrix.column(k)[j], matrix.column(k)[pivot]);
    }
    for (int i = j + 1; i < *rows; ++i) pivot_column[i] /= pivot_column[j];
    for (int k = j + 1; k < *columns; ++k) {
      double* const other = matrix.column(k);
      const double factor = other[j];
      if (factor == 0) continue;
      for (int i = j + 1; i < *rows; ++i) other[i] -= pivot_column[i] * factor;
    }
  }
}

extern "C" void dgetrs_(const char* transposed, const int* n, const int* right_sides,
                        const double* a, const int* stride, const int* pivots, double* b,
                        const int* b_stride, int* info) {
  const Matrix matrix{const_cast<double*>(a), *stride};
  *info = 0;
  for (int k = 0; k < *right_sides; ++k) {
    double* const x = b + static_cast<std::ptrdiff_t>(k) * *b_stride;
    *transposed == 'N' ? solve(matrix, *n, pivots, x) : solve_transposed(matrix, *n, pivots, x);
  }
}
