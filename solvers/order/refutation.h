// Why no plan of a graph keeps the capacity, whatever the order and however often operators run.
//
// Thread safety: its functions read their arguments and nothing else; any number of threads may
// call them at once.
#pragma once

#include "formulations/order/bounds.h"
#include "instances/units.h"
#include "solvers/family_solve.h"

namespace stowage {

// One operator, or what is there at an end, is more than the capacity. `enough` is the capacity
// that the remedy asks for.
Refutation refuted_by(const OperatorBound& bound, Bytes enough);

// No plan needs less than `bytes`; `noun` is what it is called: "order", "plan".
Refutation refuted_below(const char* noun, Bytes bytes);

}  // namespace stowage
