// Refutations that hold for every order and any number of repeated runs.
//
// Thread safety: the functions read their arguments and nothing else; any number of threads may
// call them at once.
#pragma once

#include "formulations/order/bounds.h"
#include "instances/units.h"
#include "solvers/family_solve.h"

namespace stowage {

// Returns the refutation that one operator, or the inputs or outputs, exceed the capacity. `enough`
// is the capacity in bytes that the remedy suggests.
Refutation refuted_by(const OperatorBound& bound, Bytes enough);

// Returns the refutation that no plan needs less than `bytes`. `noun` names the plan: "order" or
// "plan".
Refutation refuted_below(const char* noun, Bytes bytes);

}  // namespace stowage
