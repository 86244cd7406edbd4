// Root-mean-square normalisation (Zhang and Sennrich, arXiv 1910.07467, equation 4), row by row:
//
//   y = x * r * gain,   r = 1 / sqrt(mean(x^2) + epsilon)
//
//   rms_norm_forward(tokens, hidden, 1e-5, x, gain, y, inverse_rms);
#pragma once

#include <cstdint>
#include <span>

namespace stowage::kernels {

// x, y (n, width); gain (width). Writes y and inverse_rms (n), which the backward pass reads.
void rms_norm_forward(std::int64_t n, int width, double epsilon, std::span<const float> x,
                      std::span<const float> gain, std::span<float> y,
                      std::span<float> inverse_rms);

// Adds the gradient of sum(y * dy) to dx (n, width).
void rms_norm_backward_input(std::int64_t n, int width, std::span<const float> x,
                             std::span<const float> gain, std::span<const float> inverse_rms,
                             std::span<const float> dy, std::span<float> dx);
// Adds the gradient of sum(y * dy) to dgain (width).
void rms_norm_backward_gain(std::int64_t n, int width, std::span<const float> x,
                            std::span<const float> inverse_rms, std::span<const float> dy,
                            std::span<float> dgain);
// Computes both gradients.
void rms_norm_backward(std::int64_t n, int width, std::span<const float> x,
                       std::span<const float> gain, std::span<const float> inverse_rms,
                       std::span<const float> dy, std::span<float> dx, std::span<float> dgain);

}  // namespace stowage::kernels
