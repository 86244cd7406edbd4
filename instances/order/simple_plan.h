// A plan that needs no search. The verifier holds it against a claim that an instance has no plan
// and that carries no proof: one plan that breaks no rule refutes the claim. Not installed.
//
//   if (has_simple_plan(instance)) ...
#pragma once

#include "instances/order/instance.h"

namespace stowage {

// True if verify() accepts the plan. The program order. Of up to 20 operators the least peak is
// searched instead. False proves nothing. Requires a valid instance, as the reader returns it.
bool has_simple_plan(const OrderInstance& instance);

}  // namespace stowage
