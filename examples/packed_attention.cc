// Computes causal attention over three sequences that share one packed row, and its gradients.
#include <stowage/kernels/attention/attention.h>

#include <cmath>
#include <iostream>
#include <string>
#include <vector>

int main() {
  namespace kernels = stowage::kernels;
  // Sequences of 3, 40 and 21 tokens lie end to end; no token sees one of another sequence.
  const std::vector<std::int32_t> ends = {0, 3, 43, 64};
  const kernels::AttentionShape shape{.total_q = 64,
                                      .total_k = 64,
                                      .heads = 4,
                                      .kv_heads = 2,
                                      .head_dim = 16,
                                      .cu_q = ends,
                                      .cu_k = ends};
  for (const std::string& problem : check(shape)) std::cerr << problem << '\n';
  if (!check(shape).empty()) return 1;

  std::vector<float> q(shape.q_size()), k(shape.k_size()), v(shape.k_size());
  for (std::size_t i = 0; i < q.size(); ++i) q[i] = std::sin(0.1f * static_cast<float>(i));
  for (std::size_t i = 0; i < k.size(); ++i) k[i] = std::cos(0.2f * static_cast<float>(i));
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = std::sin(0.3f * static_cast<float>(i));

  std::vector<float> o(q.size()), lse(shape.lse_size());
  std::vector<float> work(kernels::forward_workspace(shape));
  kernels::attention_forward(shape, q, k, v, o, lse, work);

  // The gradients of the sum of all outputs.
  const std::vector<float> upstream(o.size(), 1.0f);
  std::vector<float> dq(q.size()), dk(k.size()), dv(v.size());
  work.resize(kernels::backward_workspace(shape));
  kernels::attention_backward(shape,
                              {.q = q, .k = k, .v = v, .o = o, .lse = lse, .upstream = upstream},
                              kernels::KvGradients::per_kv_head, dq, dk, dv, work);

  // A first token sees itself alone: its output is its value, whatever the weights.
  std::cout << "the first output is " << o[0] << ", the first value " << v[0] << '\n';
  double sum = 0;
  for (const float x : dv) sum += x;
  // Weights of a query add up to 1, so the gradients of the values add up to the number of outputs.
  std::cout << "the gradients of the values add up to " << std::lround(sum) << " of " << o.size()
            << '\n';
}
