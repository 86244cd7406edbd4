// Which kind of exchange is the fastest for one sequence by itself: lengths to the right, degrees
// downwards. For steps whose groups may choose.
#pragma once

#include "instances/pictures/drawing/panel.h"
#include "instances/scatter/instance.h"

namespace stowage {

// Lengths up to what a group of the degree holds. At most 16 degrees, the smallest ones. Requires
// `instance.cost.exchange`.
Picture exchange_map(const ScatterInstance& instance);

}  // namespace stowage
