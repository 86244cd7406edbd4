// What bounds have proven of each strategy of an assign step so far.
#pragma once

#include <vector>

#include "instances/assign/certificate.h"
#include "instances/assign/instance.h"

namespace stowage {

// A certificate claims so many times what was found, for its checker rounds against it.
inline constexpr double kCertain = 1 - 1e-9;

// What is known of each strategy: a proof, and the longest time that it refutes.
struct KnownProofs {
  std::vector<StrategyProof> proofs;  // of usable strategies, by name
  std::vector<Ms> times;              // of all strategies; infinite for those that cannot be used
};

}  // namespace stowage
