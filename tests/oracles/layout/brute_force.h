// The oracle for layouts: exhaustive enumeration, for a handful of buffers.
//
// Every order of the buffers that are not pinned is decoded: each buffer in turn goes to the lowest
// aligned offset at which it overlaps no placed buffer. Some order decodes to an optimum: push the
// buffers of an optimal layout down, one at a time, until none can be moved lower, and take them in
// ascending offset. Suppose a buffer could now go lower than it is. Buffers that are not yet placed
// begin at or above it and do not overlap it, so they lie above its end; it could have been moved
// down in the full layout as well. Pinned buffers are placed from the start, and alignment only
// restricts what "lower" may be.
//
// Written for obviousness, from the problem statement alone, so that every other solver can be
// compared with it.
#pragma once

#include <optional>

#include "instances/layout/instance.h"
#include "instances/layout/plan.h"

namespace stowage {

// Returns an optimal plan, or nullopt if pinned buffers overlap or the capacity is too small. O(n!
// n^2). Made for at most seven buffers that are not pinned.
std::optional<LayoutPlan> brute_force(const LayoutInstance& instance);

}  // namespace stowage
