// Compiles the incumbent of assign solves once.
#include "solvers/incumbent_body.h"

namespace stowage {

template class Incumbent<AssignInstance>;

}  // namespace stowage
