// The incumbent of an order solve, compiled once.
#include "solvers/incumbent_body.h"

namespace stowage {

template class Incumbent<OrderInstance>;

}  // namespace stowage
