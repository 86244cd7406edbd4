// The incumbent of an assign solve, compiled once.
#include "solvers/incumbent_body.h"

namespace stowage {

template class Incumbent<AssignInstance>;

}  // namespace stowage
