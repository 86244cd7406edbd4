// Computes the time of layers from measured times, in place of the rates.
//
//   const Ms ms = measured_ms(entry, 8192, 8192.0 * 8192.0);   // of one sequence of 8,192 tokens
//
// The rule is T14 of docs/reference/strategy.md. The verifier has its own.
//
// Thread safety: reads its arguments and nothing else; any number of threads may call it at once.
#pragma once

#include "instances/strategy/instance.h"
#include "instances/units.h"

namespace stowage {

// Returns the time of one layer, forward and backward, on all tp cp ranks together, for a row of
// `tokens` tokens whose lengths have squares that sum to `squares`. Requires an entry as the reader
// returns it.
Ms measured_ms(const StrategyMeasured& entry, double tokens, double squares);

}  // namespace stowage
