// Bounds proven so far for each strategy of an assign instance.
#pragma once

#include <vector>

#include "instances/assign/certificate.h"
#include "instances/assign/instance.h"

namespace stowage {

// Factor from a found bound to the certificate's claim, because the checker rounds down.
inline constexpr double kCertain = 1 - 1e-9;

// The best known proof of each strategy, and the longest time that it refutes.
struct KnownProofs {
  std::vector<StrategyProof> proofs;  // proofs of the usable strategies, by name
  // refuted times of all strategies in ms; infinite for strategies that cannot be used
  std::vector<Ms> times;
};

}  // namespace stowage
