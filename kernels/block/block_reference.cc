#include "kernels/block/block_reference.h"

#include <cmath>

#include "kernels/attention/reference.h"
#include "kernels/threads/workers.h"

namespace stowage::kernels {
namespace {

using Vector = std::vector<double>;

// y (n, out) = x (n, in) w (in, out)
Vector product(const Vector& x, const Vector& w, std::int64_t in, std::int64_t out) {
  const std::int64_t n = static_cast<std::int64_t>(x.size()) / in;
  Vector y(n * out);
  share_rows(n, in * out, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t t = begin; t < end; ++t) {
      double* row = &y[t * out];
      for (std::int64_t i = 0; i < in; ++i) {
        const double factor = x[t * in + i];
        const double* from = &w[i * out];
        for (std::int64_t o = 0; o < out; ++o) row[o] += factor * from[o];
      }
    }
  });
  return y;
}

// dx += dy w^T,  dw += x^T dy
void product_gradient(const Vector& x, const Vector& w, const Vector& dy, std::int64_t in,
                      std::int64_t out, Vector& dx, Vector& dw) {
  const std::int64_t n = static_cast<std::int64_t>(x.size()) / in;
  share_rows(in, n * out, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t t = 0; t < n; ++t) {
      const double* upstream = &dy[t * out];
      for (std::int64_t i = begin; i < end; ++i) {
        const double factor = x[t * in + i];
        const double* weights = &w[i * out];
        double* gradient = &dw[i * out];
        double sum = 0;
        for (std::int64_t o = 0; o < out; ++o) {
          sum += upstream[o] * weights[o];
          gradient[o] += factor * upstream[o];
        }
        dx[t * in + i] += sum;
      }
    }
  });
}

double mean_square(const double* x, std::int64_t width) {
  double sum = 0;
  for (std::int64_t c = 0; c < width; ++c) sum += x[c] * x[c];
  return sum / static_cast<double>(width);
}

Vector norm(const Vector& x, const Vector& gain, double epsilon) {
  const auto width = static_cast<std::int64_t>(gain.size());
  Vector y(x.size());
  for (std::size_t at = 0; at < x.size(); at += width) {
    const double rms = std::sqrt(mean_square(&x[at], width) + epsilon);
    for (std::int64_t c = 0; c < width; ++c) y[at + c] = x[at + c] / rms * gain[c];
  }
  return y;
}

// With u = x / rms: du_c/dx_e = (delta_ce - u_c u_e / width) / rms.
void norm_gradient(const Vector& x, const Vector& gain, double epsilon, const Vector& dy,
                   Vector& dx, Vector& dgain) {
  const auto width = static_cast<std::int64_t>(gain.size());
  for (std::size_t at = 0; at < x.size(); at += width) {
    const double rms = std::sqrt(mean_square(&x[at], width) + epsilon);
    double along = 0;
    for (std::int64_t c = 0; c < width; ++c) along += dy[at + c] * gain[c] * x[at + c] / rms;
    for (std::int64_t c = 0; c < width; ++c) {
      const double u = x[at + c] / rms;
      dgain[c] += dy[at + c] * u;
      dx[at + c] += (dy[at + c] * gain[c] - u * along / static_cast<double>(width)) / rms;
    }
  }
}

// Rotates every head of every token as a complex number per channel pair; sign -1 is the inverse.
void turn(Vector& x, std::span<const std::int32_t> cu, int heads, const BlockShape& shape,
          int sign) {
  const int dim = shape.head_dim;
  Vector frequency;
  for (int i = 0; i < dim / 2; ++i) frequency.push_back(std::pow(shape.rope_theta, -2.0 * i / dim));
  for (std::size_t b = 0; b + 1 < cu.size(); ++b) {
    for (std::int64_t row = cu[b]; row < cu[b + 1]; ++row) {
      for (int i = 0; i < dim / 2; ++i) {
        const double angle = sign * static_cast<double>(row - cu[b]) * frequency[i];
        const double c = std::cos(angle), s = std::sin(angle);
        for (int h = 0; h < heads; ++h) {
          double& real = x[(row * heads + h) * dim + i];
          double& imaginary = x[(row * heads + h) * dim + i + dim / 2];
          const double was = real;
          real = was * c - imaginary * s;
          imaginary = was * s + imaginary * c;
        }
      }
    }
  }
}

struct Activations {
  AttentionShape attention;
  Vector x_norm, q, k, v, o, a, a_norm, gate, up, mixed, y;
};

double sigmoid(double g) { return 1 / (1 + std::exp(-g)); }

Activations run_forward(const BlockShape& shape, const BlockWeights<double>& w,
                        std::span<const std::int32_t> cu, const Vector& x) {
  const std::int64_t hidden = shape.hidden;
  const std::int64_t n = static_cast<std::int64_t>(x.size()) / hidden;
  Activations act{.attention = {.total_q = n,
                                .total_k = n,
                                .heads = shape.heads,
                                .kv_heads = shape.kv_heads,
                                .head_dim = shape.head_dim,
                                .cu_q = cu,
                                .cu_k = cu,
                                .value_dim = shape.value_dim,
                                .window = shape.window}};
  act.x_norm = norm(x, w.attention_norm, shape.norm_epsilon);
  act.q = product(act.x_norm, w.query, hidden, shape.q_width());
  act.k = product(act.x_norm, w.key, hidden, shape.k_width());
  act.v = product(act.x_norm, w.value, hidden, shape.v_width());
  turn(act.q, cu, shape.heads, shape, 1);
  turn(act.k, cu, shape.kv_heads, shape, 1);
  act.o = reference_forward(act.attention, act.q, act.k, act.v).o;
  act.a = product(act.o, w.output, shape.o_width(), hidden);
  for (std::size_t i = 0; i < x.size(); ++i) act.a[i] += x[i];
  act.a_norm = norm(act.a, w.ffn_norm, shape.norm_epsilon);
  act.gate = product(act.a_norm, w.gate, hidden, shape.ffn);
  act.up = product(act.a_norm, w.up, hidden, shape.ffn);
  act.mixed.resize(act.gate.size());
  for (std::size_t i = 0; i < act.mixed.size(); ++i) {
    act.mixed[i] = act.gate[i] * sigmoid(act.gate[i]) * act.up[i];
  }
  act.y = product(act.mixed, w.down, shape.ffn, hidden);
  for (std::size_t i = 0; i < x.size(); ++i) act.y[i] += act.a[i];
  return act;
}

}  // namespace

BlockResult block_reference(const BlockShape& shape, const BlockWeights<double>& w,
                            std::span<const std::int32_t> cu, std::span<const double> x_in,
                            std::span<const double> upstream) {
  const Vector x(x_in.begin(), x_in.end());
  const Vector dy(upstream.begin(), upstream.end());
  Activations act = run_forward(shape, w, cu, x);
  BlockResult result{.gradient = zero_weights<double>(shape)};
  BlockWeights<double>& grad = result.gradient;
  const std::int64_t hidden = shape.hidden;

  Vector dmixed(act.mixed.size()), dgate(act.mixed.size()), dup(act.mixed.size());
  product_gradient(act.mixed, w.down, dy, shape.ffn, hidden, dmixed, grad.down);
  for (std::size_t i = 0; i < dmixed.size(); ++i) {
    const double s = sigmoid(act.gate[i]);
    dup[i] = dmixed[i] * act.gate[i] * s;
    dgate[i] = dmixed[i] * act.up[i] * (s + act.gate[i] * s * (1 - s));
  }
  Vector da_norm(x.size());
  product_gradient(act.a_norm, w.gate, dgate, hidden, shape.ffn, da_norm, grad.gate);
  product_gradient(act.a_norm, w.up, dup, hidden, shape.ffn, da_norm, grad.up);
  Vector da = dy;
  norm_gradient(act.a, w.ffn_norm, shape.norm_epsilon, da_norm, da, grad.ffn_norm);

  Vector d_o(act.o.size());
  product_gradient(act.o, w.output, da, shape.o_width(), hidden, d_o, grad.output);
  AttentionGradients attention = reference_backward(act.attention, act.q, act.k, act.v, d_o);
  turn(attention.dq, cu, shape.heads, shape, -1);
  turn(attention.dk, cu, shape.kv_heads, shape, -1);
  Vector dx_norm(x.size());
  product_gradient(act.x_norm, w.query, attention.dq, hidden, shape.q_width(), dx_norm, grad.query);
  product_gradient(act.x_norm, w.key, attention.dk, hidden, shape.k_width(), dx_norm, grad.key);
  product_gradient(act.x_norm, w.value, attention.dv, hidden, shape.v_width(), dx_norm, grad.value);
  result.dx = da;
  norm_gradient(x, w.attention_norm, shape.norm_epsilon, dx_norm, result.dx, grad.attention_norm);
  result.y = std::move(act.y);
  return result;
}

BlockWeights<double> widen(const BlockWeights<float>& weights) {
  BlockWeights<double> wide;
  for (int t = 0; t < kWeightTensors; ++t) {
    wide.tensors()[t]->assign(weights.tensors()[t]->begin(), weights.tensors()[t]->end());
  }
  return wide;
}

}  // namespace stowage::kernels
