#include "kernels/run/packed_plan.h"

#include <algorithm>
#include <map>
#include <utility>

namespace stowage::kernels {

std::string PackedPlan::name(int part, int index) const {
  return std::string(batch_word) + ' ' + std::to_string(index) + " of " + std::string(part_word) +
         ' ' + std::to_string(part);
}

double step_time(const PackedPlan& plan, const std::vector<TimedBatch>& batches) {
  std::map<int, std::pair<double, double>> parts;  // by part: sum and longest of its batches
  for (const TimedBatch& batch : batches) {
    auto& [sum, longest] = parts[batch.part];
    sum += batch.time;
    longest = std::max(longest, batch.time * batch.longest_share);
  }
  double step = 0;
  double slowest = 0;
  for (const auto& [part, times] : parts) {
    const auto& [sum, longest] = times;
    if (plan.stages.empty()) {
      step += longest;
      slowest = std::max(slowest, longest);
    } else {
      step = std::max(step, sum + (plan.stages[static_cast<std::size_t>(part)] - 1) * longest);
    }
  }
  return step + (plan.pipeline_stages - 1) * slowest;
}

}  // namespace stowage::kernels
