// A plan that needs no search. The verifier holds it against a claim that an instance has no plan
// and that carries no proof: one plan that breaks no rule refutes the claim. Not installed.
//
//   if (has_simple_plan(instance)) ...
#pragma once

#include "instances/layout/instance.h"

namespace stowage {

// True if verify() accepts the plan. All buffers on top of each other, above the pinned ones.
// False proves nothing. Requires a valid instance, as the reader returns it.
bool has_simple_plan(const LayoutInstance& instance);

}  // namespace stowage
