#include "heuristics/scatter/construct/step_coarsening.h"

#include <algorithm>

#include "heuristics/scatter/construct/chunking.h"

namespace stowage {
namespace {

constexpr int kSmall = 1500;  // sequences; smaller steps are planned without aggregation
constexpr int kFactor = 4;
// Devices of the small step per device of the least degree that holds the longest sequence. With
// fewer, the small step has another shape than the large one.
constexpr int kDevicesPerDegree = 3;

std::vector<int> every(const ScatterTable& table, int factor) {
  std::vector<int> positions;
  for (int position = 0; position < table.size(); position += factor) positions.push_back(position);
  return positions;
}

// Returns the least degree that holds the longest sequence, or all devices if no configuration
// holds it.
int needed_degree(const ScatterTable& table) {
  for (std::size_t config = 0; config < table.configs().size(); ++config) {
    if (table.holds(static_cast<int>(config), 0)) return table.configs()[config].degree;
  }
  return table.devices();
}

}  // namespace

std::optional<CoarsenedStep> coarsen(const ScatterTable& table) {
  if (table.size() <= kSmall) return std::nullopt;
  const int devices = table.devices() / kFactor;
  if (devices >= kDevicesPerDegree * needed_degree(table)) {
    return CoarsenedStep{table.part(every(table, kFactor), devices), kFactor, true};
  }
  if (fewest_micro_batches(table) >= 2 * kFactor) {
    CoarsenedStep coarse{table.part(every(table, kFactor), table.devices()), kFactor, false};
    coarse.table.count_longest(table.longest_weight() / kFactor);
    return coarse;
  }
  return std::nullopt;
}

WorkingStep refine(const ScatterTable& table, const CoarsenedStep& coarse,
                   const WorkingStep& step) {
  WorkingStep fine;
  const auto copies = static_cast<std::size_t>(coarse.factor);
  for (const WorkingMicroBatch& batch : step) {
    const std::size_t first = fine.size();
    fine.resize(first + (coarse.fewer_devices ? 1 : copies));
    for (const WorkingGroup& group : batch.groups) {
      for (std::size_t copy = 0; copy < copies; ++copy) {
        WorkingGroup made = empty_group(table, group.config);
        for (const int position : group.positions) {
          const std::int64_t own = coarse.table.id(position) + static_cast<std::int64_t>(copy);
          if (own < table.size()) add_sequence(table, made, static_cast<int>(own));
        }
        if (made.positions.empty()) continue;
        fine[coarse.fewer_devices ? first : first + copy].groups.push_back(std::move(made));
      }
    }
  }
  std::erase_if(fine, [](const WorkingMicroBatch& batch) { return batch.groups.empty(); });
  for (WorkingMicroBatch& batch : fine) batch.makespan = slowest(batch);
  return fine;
}

}  // namespace stowage
