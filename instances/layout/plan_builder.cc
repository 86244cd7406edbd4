#include "instances/layout/plan_builder.h"

#include <algorithm>
#include <utility>

namespace stowage {

LayoutPlan compose_layout(const LayoutInstance& instance, std::vector<Bytes> offsets) {
  LayoutPlan plan;
  plan.name = instance.name;
  for (std::size_t b = 0; b < offsets.size(); ++b) {
    plan.peak_bytes = std::max(plan.peak_bytes, offsets[b] + instance.buffers[b].size);
  }
  plan.offsets = std::move(offsets);
  return plan;
}

}  // namespace stowage
