// Assign steps whose parameters are all drawn from a seed: model, GPUs, strategies, the
// distribution of lengths and the number of tokens. So a method cannot be tuned to the steps, only
// to the seeds of a list.
#pragma once

#include <cstdint>

#include "instances/assign/instance.h"

namespace stowage::bench {

// Returns a feasible step. Lengths are uniform, log-normal, heavy-tailed (Pareto), or few and long.
// Strategies are those of the preset, or drawn for 8 to 128 GPUs. A step has 20,000 to 500,000
// tokens, so the number of sequences is between ten and hundreds.
AssignInstance drawn_assign(std::uint64_t seed);

}  // namespace stowage::bench
