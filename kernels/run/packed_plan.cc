#include "kernels/run/packed_plan.h"

#include <algorithm>
#include <map>
#include <utility>

#include "instances/pipeline/schedule.h"

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

std::optional<double> simulated_step_time(const PackedPlan& plan,
                                          const std::vector<TimedBatch>& batches) {
  if (!plan.simulated_ms) return std::nullopt;
  std::map<int, std::vector<double>> rows;  // by replica; 0 for micro-batches
  std::map<int, double> makespans;          // by micro-batch
  for (const TimedBatch& batch : batches) {
    if (batch.longest_share < 1) return std::nullopt;
    if (plan.stages.empty()) {
      makespans[batch.part] = std::max(makespans[batch.part], batch.time);
    } else {
      rows[batch.part].push_back(batch.time);
    }
  }
  for (const auto& [part, makespan] : makespans) rows[0].push_back(makespan);
  double end = 0;
  for (const auto& [part, times] : rows) {
    const int stages =
        plan.stages.empty() ? plan.pipeline_stages : plan.stages[static_cast<std::size_t>(part)];
    end = std::max(end, simulate_1f1b(times, stages));
  }
  return end;
}

}  // namespace stowage::kernels
