#include "instances/layout_compose.h"

#include <algorithm>
#include <utility>

namespace stowage {

Bytes peak_of(const LayoutInstance& instance, const std::vector<Bytes>& offsets) {
  Bytes peak = 0;
  for (std::size_t b = 0; b < offsets.size(); ++b) {
    peak = std::max(peak, offsets[b] + instance.buffers[b].size);
  }
  return peak;
}

LayoutPlan compose_layout(const LayoutInstance& instance, std::vector<Bytes> offsets) {
  LayoutPlan plan;
  plan.name = instance.name;
  plan.peak_bytes = peak_of(instance, offsets);
  plan.offsets = std::move(offsets);
  return plan;
}

}  // namespace stowage
