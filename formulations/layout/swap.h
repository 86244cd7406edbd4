// How much of a layer's activations to swap to the host, token by token (MEMO, arXiv 2407.12117,
// section 4.1): the fraction alpha of the tokens whose tensors go out during the forward pass and
// come back during the backward pass; the others are computed again.
//
// All sizes are those of one host: of all its devices together, one layer.
//
//   SwapProblem swap{.input_bytes = .., .attention_bytes = .., .tensors = {{"rest", bytes, 1}},
//                    .bytes_per_ms = .., .layer_ms = .., .layers = 32, .host_bytes = 2LL << 40};
//   if (const auto alpha = swap_fraction(swap)) ...          // closed form
//   const SwapLp lp = build_swap_lp(swap);                   // per tensor
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "formulations/milp/model.h"
#include "instances/units.h"

namespace stowage {

struct SwapTensor {
  std::string name;
  Bytes bytes = 0;      // of all tokens
  Ms recompute_ms = 0;  // to compute it again for all tokens
};

struct SwapProblem {
  Bytes input_bytes = 0;            // S_in: always swapped
  Bytes attention_bytes = 0;        // S_attn: always swapped, attention is too dear to recompute
  std::vector<SwapTensor> tensors;  // S_oth is their sum
  double bytes_per_ms = 0;          // B: to the host; infinity if the link is no limit
  Ms layer_ms = 0;                  // T_layer: the forward pass of a layer, behind which it hides
  int layers = 0;                   // n; the last two are not swapped
  Bytes host_bytes = 0;             // M_cpu
};

// The bytes of `tensors` that may go out of each layer: the smaller of what the link and what the
// host leave, [M1] and [M2]; negative if not even the input and the attention fit.
double swap_room(const SwapProblem& problem);

// max alpha subject to 0 <= alpha <= 1, (S_in + S_attn + alpha S_oth) / B <= T_layer, and
// (n - 2) (S_in + S_attn + alpha S_oth) <= M_cpu. Nothing if alpha = 0 already breaks one.
std::optional<double> swap_fraction(const SwapProblem& problem);

// min sum r_k (1 - alpha_k) under the same two rows with sum alpha_k S_k for alpha S_oth: which
// tensors are worth their room. With equal costs per byte it swaps as many bytes as the closed
// form.
struct SwapLp {
  milp::Model model;
  std::vector<int> fraction;  // alpha_k: variable of each tensor
};
SwapLp build_swap_lp(const SwapProblem& problem);

}  // namespace stowage
