// Compiles the incumbent of order solves once.
#include "solvers/incumbent_body.h"

namespace stowage {

template class Incumbent<OrderInstance>;

}  // namespace stowage
