// Compiles the incumbent of strategy solves once.
#include "solvers/incumbent_body.h"

namespace stowage {

template class Incumbent<StrategyInstance>;

}  // namespace stowage
