// A plan that needs no search. The verifier compares it with a claim, without a proof, that an
// instance has no plan: one plan that breaks no rule refutes the claim. Not installed.
//
//   if (has_counterexample_plan(instance)) ...
#pragma once

#include "instances/order/instance.h"

namespace stowage {

// Returns whether verify() accepts a simple plan: the program order, or for up to 20 operators an
// order of the least peak. False proves nothing. Requires a valid instance, as the reader returns
// it.
bool has_counterexample_plan(const OrderInstance& instance);

}  // namespace stowage
