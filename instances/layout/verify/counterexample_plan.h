// A plan that needs no search. The verifier compares it with a claim, without a proof, that an
// instance has no plan: one plan that breaks no rule refutes the claim. Not installed.
//
//   if (has_counterexample_plan(instance)) ...
#pragma once

#include "instances/layout/instance.h"

namespace stowage {

// Returns whether verify() accepts the layout that stacks all buffers on top of each other, above
// the pinned ones. False proves nothing. Requires a valid instance, as the reader returns it.
bool has_counterexample_plan(const LayoutInstance& instance);

}  // namespace stowage
