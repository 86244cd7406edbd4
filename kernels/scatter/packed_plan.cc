#include "kernels/scatter/packed_plan.h"

#include <cstddef>
#include <string>
#include <vector>

namespace stowage {

kernels::PackedPlan packed_plan(const ScatterInstance& instance, const ScatterPlan& plan) {
  kernels::PackedPlan packed{.part_word = "micro-batch",
                             .batch_word = "group",
                             .lengths = instance.lengths,
                             .pad_multiple = instance.pad_multiple,
                             .pipeline_stages = instance.pipeline_stages};
  if (instance.pipeline_stages > 1) {
    packed.notes.push_back("one of " + std::to_string(instance.pipeline_stages) +
                           " stages is executed; the others are taken to last as long");
  }
  for (std::size_t m = 0; m < plan.micro_batches.size(); ++m) {
    const std::vector<ScatterGroup>& groups = plan.micro_batches[m].groups;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      packed.batches.push_back({.part = static_cast<int>(m),
                                .index = static_cast<int>(g),
                                .degree = groups[g].degree,
                                .predicted_ms = groups[g].time_ms,
                                .tokens = groups[g].tokens,
                                .sequences = groups[g].sequences,
                                .cu_seqlens = groups[g].cu_seqlens});
    }
  }
  return packed;
}

}  // namespace stowage
