// A plan that needs no search. The verifier holds it against a claim that an instance has no plan
// and that carries no proof: one plan that breaks no rule refutes the claim. Not installed.
//
//   if (has_simple_plan(instance)) ...
#pragma once

#include "instances/scatter/instance.h"

namespace stowage {

// True if verify() accepts the plan. Each sequence by itself in the roomiest group. Steps of up to
// 12 sequences are searched instead. False proves nothing. Requires a valid instance, as the reader
// returns it.
bool has_simple_plan(const ScatterInstance& instance);

}  // namespace stowage
