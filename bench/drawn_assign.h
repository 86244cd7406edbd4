// Assign steps whose every parameter is drawn from a seed: model, GPUs, strategies, how lengths are
// distributed and how many tokens there are. Nothing can be tuned to them but the seeds of a list.
#pragma once

#include <cstdint>

#include "instances/assign/instance.h"

namespace stowage::bench {

// Lengths are uniform, log-normal, of a heavy tail (Pareto), or few and long. Strategies are those
// of the preset or made for 8 to 128 GPUs. A step fills 20,000 to 500,000 tokens, so that some have
// ten sequences and others hundreds. It has a plan.
AssignInstance drawn_assign(std::uint64_t seed);

}  // namespace stowage::bench
