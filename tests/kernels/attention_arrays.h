// One packed batch with its arrays, and the FP32 passes over it.
#pragma once

#include <algorithm>
#include <vector>

#include "kernels/attention/attention.h"
#include "tests/kernels/numbers.h"

namespace stowage::kernels {

struct AttentionCase {
  int heads = 2;
  int kv_heads = 2;
  int dim = 64;
  std::vector<int> lq;
  std::vector<int> lk;  // empty: same as lq
  int slack = 0;        // rows beyond the last sequence
  float peak = 1;       // standard deviation of q: large values make one key win
  int value_dim = 0;    // the rest as in AttentionShape
  int window = 0;
  double soft_cap = 0;
  bool sinks = false;
};

struct AttentionArrays {
  AttentionCase given;
  std::vector<std::int32_t> cu_q, cu_k;
  AttentionShape shape;
  std::vector<float> q, k, v, upstream, o, lse, dq, dk, dv, sinks;

  explicit AttentionArrays(const AttentionCase& c)
      : given(c), cu_q(prefix_sums(c.lq)), cu_k(prefix_sums(c.lk.empty() ? c.lq : c.lk)) {
    shape = {.total_q = cu_q.back() + c.slack,
             .total_k = cu_k.back() + c.slack,
             .heads = c.heads,
             .kv_heads = c.kv_heads,
             .head_dim = c.dim,
             .cu_q = cu_q,
             .cu_k = cu_k,
             .value_dim = c.value_dim,
             .window = c.window,
             .soft_cap = c.soft_cap};
    if (c.sinks) sinks = normal_values(c.heads, 5);
    shape.sinks = sinks;
    q = normal_values(shape.q_size(), 1, c.peak);
    k = normal_values(shape.k_size(), 2);
    v = normal_values(shape.v_size(), 3);
    upstream = normal_values(shape.o_size(), 4);
    o.assign(upstream.size(), 99);  // outputs start with arbitrary values
    dq.assign(q.size(), 99);
    dk.assign(k.size(), 99);
    dv.assign(v.size(), 99);
    lse.assign(static_cast<std::size_t>(shape.lse_size()), 99);
  }
  AttentionArrays(const AttentionArrays&) = delete;  // shape refers to cu_q and cu_k
  AttentionArrays& operator=(const AttentionArrays&) = delete;

  AttentionBackwardInput backward_input() const {
    return {.q = q, .k = k, .v = v, .o = o, .lse = lse, .upstream = upstream};
  }
  void forward() {
    std::vector<float> work(static_cast<std::size_t>(forward_workspace(shape)));
    attention_forward(shape, q, k, v, o, lse, work);
  }
  void backward() {
    std::vector<float> work(static_cast<std::size_t>(backward_workspace(shape)));
    attention_backward(shape, backward_input(), KvGradients::per_kv_head, dq, dk, dv, work);
  }
};

}  // namespace stowage::kernels
