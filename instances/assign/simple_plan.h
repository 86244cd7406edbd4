// A plan that needs no search. The verifier holds it against a claim that an instance has no plan
// and that carries no proof: one plan that breaks no rule refutes the claim. Not installed.
//
//   if (has_simple_plan(instance)) ...
#pragma once

#include "instances/assign/instance.h"

namespace stowage {

// True if verify() accepts the plan. Rows of one sequence each, of every strategy that admits all.
// False proves nothing. Requires a valid instance, as the reader returns it.
bool has_simple_plan(const AssignInstance& instance);

}  // namespace stowage
