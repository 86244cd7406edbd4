// The incumbent of a scatter solve, compiled once.
#include "solvers/incumbent_body.h"

namespace stowage {

template class Incumbent<ScatterInstance>;

}  // namespace stowage
