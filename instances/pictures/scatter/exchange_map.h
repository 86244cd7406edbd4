// Draws the fastest kind of exchange for a single sequence: lengths to the right, degrees
// downwards. It is for steps whose groups may choose their exchange.
#pragma once

#include "instances/pictures/drawing/panel.h"
#include "instances/scatter/instance.h"

namespace stowage {

// Draws lengths up to the memory of a group of each degree. At most 16 degrees, the smallest, are
// drawn. Requires `instance.cost.exchange`.
Picture exchange_map(const ScatterInstance& instance);

}  // namespace stowage
