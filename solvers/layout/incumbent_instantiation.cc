// Compiles the incumbent of layout solves once.
#include "solvers/incumbent_body.h"

namespace stowage {

template class Incumbent<LayoutInstance>;

}  // namespace stowage
