// From offsets to a layout plan: fills in what follows from where every buffer lies.
#pragma once

#include <vector>

#include "instances/layout/instance.h"
#include "instances/layout/plan.h"

namespace stowage {

// The plan with its peak. Requires one offset per buffer. The hash and the bound are the caller's
// to set.
LayoutPlan compose_layout(const LayoutInstance& instance, std::vector<Bytes> offsets);

}  // namespace stowage
