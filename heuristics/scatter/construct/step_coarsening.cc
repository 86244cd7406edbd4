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

// Returns the least degree that holds the longest sequence, or all devices if no level holds it.
int needed_degree(const ScatterTable& table) {
  for (std::size_t level = 0; level < table.levels().size(); ++level) {
    if (table.holds(static_cast<int>(level), 0)) return table.levels()[level].degree;
  }
  return table.devices();
}

}  // namespace

std::optional<Coarse> coarsen(const ScatterTable& table) {
  if (table.size() <= kSmall) return std::nullopt;
  const int devices = table.devices() / kFactor;
  if (devices >= kDevicesPerDegree * needed_degree(table)) {
    return Coarse{table.part(every(table, kFactor), devices), kFactor, true};
  }
  if (fewest_micro_batches(table) >= 2 * kFactor) {
    Coarse coarse{table.part(every(table, kFactor), table.devices()), kFactor, false};
    coarse.table.count_longest(table.again() / kFactor);
    return coarse;
  }
  return std::nullopt;
}

StepDraft refine(const ScatterTable& table, const Coarse& coarse, const StepDraft& step) {
  StepDraft fine;
  const auto copies = static_cast<std::size_t>(coarse.factor);
  for (const MicroBatchDraft& batch : step) {
    const std::size_t first = fine.size();
    fine.resize(first + (coarse.fewer_devices ? 1 : copies));
    for (const GroupDraft& group : batch.groups) {
      for (std::size_t copy = 0; copy < copies; ++copy) {
        GroupDraft made = empty_group(table, group.level);
        for (const int position : group.positions) {
          const std::int64_t own = coarse.table.id(position) + static_cast<std::int64_t>(copy);
          if (own < table.size()) add_sequence(table, made, static_cast<int>(own));
        }
        if (made.positions.empty()) continue;
        fine[coarse.fewer_devices ? first : first + copy].groups.push_back(std::move(made));
      }
    }
  }
  std::erase_if(fine, [](const MicroBatchDraft& batch) { return batch.groups.empty(); });
  for (MicroBatchDraft& batch : fine) batch.makespan = slowest(batch);
  return fine;
}

}  // namespace stowage
