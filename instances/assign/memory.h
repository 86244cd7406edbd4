// The most tokens of a row: the memory of one device of a replica, as Hydraulis models it.
//
//   activations   L S H / tp * A_tp bytes for a row of S tokens; with pp stages as many rows are
//                 under way as a stage lacks layers, so that pp cancels
//   states        (L / os_pp) (H^2 / os_tp) B (alpha / os_dp) + (L / pp) (H^2 / tp) B (1 - alpha)
//                 + (H V / os_tp) E(os_pp) (alpha / os_dp) + (H V / tp) E(pp) (1 - alpha) bytes,
//                 where E(x) is 32 for one stage and 16 for several, and alpha = 3/4 is the share
//                 of the states that the optimizer layout (os) holds
//   cap           the rest of 81252 MiB less 5000 MiB and a reserve, in multiples of 128 tokens
//
// Source: Hydraulis (arXiv 2412.07894) and the tables of its published planner. A_tp was fitted
// there; the whole numbers used here are the only ones that give all published caps.
#pragma once

#include <array>

#include "instances/units.h"

namespace stowage {

// Degrees of the layout in which the optimizer states are kept.
struct OptimizerLayout {
  int dp = 1;
  int tp = 1;
  int pp = 1;
};

// One value of A_tp.
struct TokenActivation {
  int tp = 0;
  double bytes = 0;  // per token and hidden unit of a layer
};

struct ReplicaMemory {
  int hidden = 0;       // H
  int layers = 0;       // L
  int vocabulary = 0;   // V
  double block = 0;     // B: bytes of states per H^2 in a layer
  Mib reserve_mib = 0;  // kept free beside the 5000 MiB
  OptimizerLayout optimizer;
  std::array<TokenActivation, 5> activation = {};  // for each tp in use; unused entries have tp 0
};

// Returns the MiB of states on one device of a replica of tp * pp devices.
Mib states_mib(const ReplicaMemory& memory, int tp, int pp);

// Returns the most tokens a row may have; 0 if the states leave no room. Requires an A_tp for this
// tp.
Tokens max_row_tokens(const ReplicaMemory& memory, int tp, int pp);

}  // namespace stowage
