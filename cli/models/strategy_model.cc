#include "cli/models/exported_model.h"

namespace stowage {

// Classes are searched one by one; there is no MILP of them yet that other solvers could take.
ModelAnswer exported_model_of(const StrategyInstance&, const StrategyPlan*, const ModelFlags&) {
  return refused("INSTANCE",
                 "must be of scatter, assign, layout or order: a strategy has no model file");
}

}  // namespace stowage
