// Stacks all buffers: a layout in O(n + p log p) for p pinned buffers, without a table.
#pragma once

#include <optional>
#include <vector>

#include "instances/layout/instance.h"

namespace stowage {

// Returns offsets at which all buffers lie above each other, around the pinned buffers. Returns
// nullopt if the stack would end beyond kMaxExact. Requires pins that do not clash.
std::optional<std::vector<Bytes>> pile(const LayoutInstance& instance);

}  // namespace stowage
