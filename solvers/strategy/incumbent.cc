// The incumbent of a strategy solve, compiled once.
#include "solvers/incumbent_body.h"

namespace stowage {

template class Incumbent<StrategyInstance>;

}  // namespace stowage
