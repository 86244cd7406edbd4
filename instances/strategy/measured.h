// Times of layers as they were measured, in the place of those that follow from rates.
//
//   const Ms ms = measured_ms(entry, 8192, 8192.0 * 8192.0);   // of one sequence of 8,192 tokens
//
// The rule is T14 of instances/strategy/README.md. The verifier has its own.
//
// Thread safety: reads its arguments and nothing else; any number of threads may call it at once.
#pragma once

#include "instances/strategy/instance.h"
#include "instances/units.h"

namespace stowage {

// One layer, forward and backward, for a row of so many tokens whose lengths have squares of that
// sum, on all tp cp ranks together. Requires an entry as the reader returns it.
Ms measured_ms(const StrategyMeasured& entry, double tokens, double squares);

}  // namespace stowage
