#include "instances/layout/verify/counterexample_plan.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "instances/layout/load.h"
#include "instances/layout/plan_builder.h"
#include "instances/layout/verify/verify.h"

namespace stowage {
bool has_counterexample_plan(const LayoutInstance& instance) {
  std::vector<Bytes> offsets;
  Bytes top = 0;
  for (const Buffer& buffer : instance.buffers) {
    offsets.push_back(buffer.offset.value_or(0));
    if (buffer.offset) top = std::max(top, *buffer.offset + buffer.size);
  }
  for (std::size_t b = 0; b < offsets.size(); ++b) {
    const Buffer& buffer = instance.buffers[b];
    if (buffer.offset) continue;
    offsets[b] = round_up(top, alignment_of(instance, buffer));
    top = offsets[b] + buffer.size;
  }
  return verify(instance, compose_layout(instance, std::move(offsets))).empty();
}

}  // namespace stowage
