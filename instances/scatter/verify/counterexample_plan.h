// A plan that needs no search. The verifier compares it with a claim, without a proof, that an
// instance has no plan: one plan that breaks no rule refutes the claim. Not installed.
//
//   if (has_counterexample_plan(instance)) ...
#pragma once

#include "instances/scatter/instance.h"

namespace stowage {

// Returns whether verify() accepts a simple plan: each sequence alone in the roomiest group. Steps
// of up to 12 sequences are searched instead. False proves nothing. Requires a valid instance, as
// the reader returns it.
bool has_counterexample_plan(const ScatterInstance& instance);

}  // namespace stowage
