// The relative error of an FP32 tensor against the double reference: |have - want|_2 / |want|_2.
//
//   assert(relative_l2(o, truth.o) <= 2e-6);
#pragma once

#include <cmath>
#include <span>

#include "instances/numeric/numbers.h"

namespace stowage::kernels {

// The class keeps two running sums, so that a tensor may be added in pieces.
class RelativeError {
 public:
  // Both spans must have the same size.
  void add(std::span<const float> have, std::span<const double> want) {
    for (std::size_t i = 0; i < want.size(); ++i) {
      const double off = double{have[i]} - want[i];
      error_ += off * off;
      norm_ += want[i] * want[i];
    }
  }
  // Returns 0 for two zero tensors, infinity if only `want` is zero, and NaN if a value was NaN.
  double value() const {
    if (error_ == 0) return 0;
    return norm_ == 0 ? kInfinity : std::sqrt(error_ / norm_);
  }

 private:
  double error_ = 0, norm_ = 0;
};

inline double relative_l2(std::span<const float> have, std::span<const double> want) {
  if (have.size() != want.size()) return kInfinity;
  RelativeError error;
  error.add(have, want);
  return error.value();
}

}  // namespace stowage::kernels
