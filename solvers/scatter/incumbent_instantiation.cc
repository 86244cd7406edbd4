// Compiles the incumbent of scatter solves once.
#include "solvers/incumbent_body.h"

namespace stowage {

template class Incumbent<ScatterInstance>;

}  // namespace stowage
