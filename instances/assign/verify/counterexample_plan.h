// A plan that needs no search. The verifier compares it with a claim, without a proof, that an
// instance has no plan: one plan that breaks no rule refutes the claim. Not installed.
//
//   if (has_counterexample_plan(instance)) ...
#pragma once

#include "instances/assign/instance.h"

namespace stowage {

// Returns whether verify() accepts a plan of rows of one sequence each, of any strategy that admits
// all sequences. False proves nothing. Requires a valid instance, as the reader returns it.
bool has_counterexample_plan(const AssignInstance& instance);

}  // namespace stowage
