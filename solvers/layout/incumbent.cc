// The incumbent of a layout solve, compiled once.
#include "solvers/incumbent_body.h"

namespace stowage {

template class Incumbent<LayoutInstance>;

}  // namespace stowage
