#include "kernels/run/execution_report.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "instances/regression/median.h"

namespace stowage::kernels {

std::optional<double> ExecutionReport::step_deviation() const {
  if (!predicted_here_s || !critical_path_s) return std::nullopt;
  return std::abs(*predicted_here_s / *critical_path_s - 1);
}

void ExecutionReport::take(const BatchTimes& times) {
  if (times.batches.size() != batches.size()) return;
  packs = times.packs;
  std::vector<double> deviations;
  for (std::size_t b = 0; b < batches.size(); ++b) {
    const BatchTime& time = times.batches[b];
    batches[b].seconds = time.seconds;
    batches[b].predicted_here_s = time.predicted_s;
    if (const std::optional<double> off = time.deviation()) deviations.push_back(*off);
  }
  if (deviations.empty()) return;
  largest_deviation = std::ranges::max(deviations);
  median_deviation = median(std::move(deviations));
}

void ExecutionReport::add_up(const PackedPlan& plan) {
  std::vector<TimedBatch> planned;
  for (const PackedBatch& batch : plan.batches) {
    planned.push_back({batch.part, batch.predicted_ms, batch.longest_share});
  }
  predicted_critical_path_ms = step_time(plan, planned);
  predicted_simulated_ms = plan.simulated_ms;
  if (!complete || batches.size() != plan.batches.size()) return;
  std::vector<TimedBatch> measured;
  std::vector<TimedBatch> predicted;
  for (const BatchMeasurement& batch : batches) {
    measured.push_back({batch.part, batch.seconds, batch.longest_share});
    if (batch.predicted_here_s) {
      predicted.push_back({batch.part, *batch.predicted_here_s, batch.longest_share});
    }
  }
  critical_path_s = step_time(plan, measured);
  simulated_s = simulated_step_time(plan, measured);
  if (predicted.size() == measured.size()) predicted_here_s = step_time(plan, predicted);
}

}  // namespace stowage::kernels
