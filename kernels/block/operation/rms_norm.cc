#include "kernels/block/operation/rms_norm.h"

#include <cmath>

#include "kernels/threads/workers.h"

namespace stowage::kernels {
namespace {

constexpr std::int64_t kCacheLine = 16;  // floats

}  // namespace

void rms_norm_forward(std::int64_t n, int width, double epsilon, std::span<const float> x,
                      std::span<const float> gain, std::span<float> y,
                      std::span<float> inverse_rms) {
  share_rows(n, width, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t t = begin; t < end; ++t) {
      const float* in = x.data() + t * width;
      float* out = y.data() + t * width;
      double squares = 0;  // double, because one sum per row takes little time beside the products
      for (int c = 0; c < width; ++c) squares += double{in[c]} * double{in[c]};
      const auto r = static_cast<float>(1.0 / std::sqrt(squares / width + epsilon));
      inverse_rms[t] = r;
      for (int c = 0; c < width; ++c) out[c] = in[c] * r * gain[c];
    }
  });
}

void rms_norm_backward_input(std::int64_t n, int width, std::span<const float> x,
                             std::span<const float> gain, std::span<const float> inverse_rms,
                             std::span<const float> dy, std::span<float> dx) {
  share_rows(n, width, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t t = begin; t < end; ++t) {
      const float* in = x.data() + t * width;
      const float* up = dy.data() + t * width;
      float* out = dx.data() + t * width;
      const float r = inverse_rms[t];
      double dot = 0;  // sum of gain * dy * x, the part of the gradient that goes through r
      for (int c = 0; c < width; ++c) dot += double{gain[c]} * double{up[c]} * double{in[c]};
      const auto pull = static_cast<float>(dot * r * r * r / width);
      for (int c = 0; c < width; ++c) out[c] += gain[c] * up[c] * r - in[c] * pull;
    }
  });
}

void rms_norm_backward_gain(std::int64_t n, int width, std::span<const float> x,
                            std::span<const float> inverse_rms, std::span<const float> dy,
                            std::span<float> dgain) {
  // A sum over tokens keeps their order, so channels are shared, a cache line of them at least.
  share_rows(width, n, kCacheLine, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t t = 0; t < n; ++t) {
      const float* in = x.data() + t * width;
      const float* up = dy.data() + t * width;
      const float r = inverse_rms[t];
      for (std::int64_t c = begin; c < end; ++c) dgain[c] += up[c] * in[c] * r;
    }
  });
}

void rms_norm_backward(std::int64_t n, int width, std::span<const float> x,
                       std::span<const float> gain, std::span<const float> inverse_rms,
                       std::span<const float> dy, std::span<float> dx, std::span<float> dgain) {
  rms_norm_backward_input(n, width, x, gain, inverse_rms, dy, dx);
  rms_norm_backward_gain(n, width, x, inverse_rms, dy, dgain);
}

}  // namespace stowage::kernels
