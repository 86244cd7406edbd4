// One heap: the only layout that takes no time to speak of, and no table.
#pragma once

#include <optional>
#include <vector>

#include "instances/layout/instance.h"

namespace stowage {

// All buffers one above the other, wherever nothing is pinned. Nothing if it would end beyond
// kMaxExact. Requires pins that do not clash.
std::optional<std::vector<Bytes>> pile(const LayoutInstance& instance);

}  // namespace stowage
