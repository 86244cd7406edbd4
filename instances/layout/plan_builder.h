// Makes a layout plan from offsets: fills in the fields that follow from them.
#pragma once

#include <vector>

#include "instances/layout/instance.h"
#include "instances/layout/plan.h"

namespace stowage {

// Returns the plan with its peak. Requires one offset per buffer. The caller sets the hash and the
// bound.
LayoutPlan compose_layout(const LayoutInstance& instance, std::vector<Bytes> offsets);

}  // namespace stowage
