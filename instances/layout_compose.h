// From offsets to a layout plan: fills in what follows from where every buffer lies.
#pragma once

#include <vector>

#include "instances/layout.h"
#include "instances/layout_plan.h"

namespace stowage {

// The largest offset + size; 0 without buffers. Requires one offset per buffer.
Bytes peak_of(const LayoutInstance& instance, const std::vector<Bytes>& offsets);

// The plan with its peak. The hash and the bound are the caller's to set.
LayoutPlan compose_layout(const LayoutInstance& instance, std::vector<Bytes> offsets);

}  // namespace stowage
