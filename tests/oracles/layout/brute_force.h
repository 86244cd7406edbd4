// The oracle for layouts: tries everything. For a handful of buffers at most.
//
// Every order of the buffers that are not pinned is decoded: one after the other goes to the lowest
// aligned offset at which it meets nobody who is there already. Some order decodes to an optimum:
// push the buffers of an optimal layout down, one at a time, until none can be moved lower, and
// take them in ascending offset. Suppose a buffer could now go lower than it is. Those not there
// yet begin at or above it and do not overlap it, so they lie above its end; it could have been
// moved down in the full layout as well. Pinned buffers are there from the start, and alignment
// only restricts what "lower" may be.
//
// Written for obviousness, from the problem statement alone, so that every other solver can be held
// against it.
#pragma once

#include <optional>

#include "instances/layout/instance.h"
#include "instances/layout/plan.h"

namespace stowage {

// An optimal plan, or nothing if pinned buffers clash or the capacity is too small. O(n! n^2).
// Made for at most seven buffers that are not pinned.
std::optional<LayoutPlan> brute_force(const LayoutInstance& instance);

}  // namespace stowage
