#include "heuristics/scatter/published/bytescale.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "heuristics/packing.h"

namespace stowage {

std::optional<WorkingStep> bytescale(const ScatterTable& table) {
  WorkingStep step;
  std::vector<WorkingGroup> groups;
  std::vector<int> packed;
  std::vector<Tokens> sizes;
  const int configs = static_cast<int>(table.configs().size());
  const GroupConfig& least = table.configs().front();
  for (int position = 0; position < table.size(); ++position) {
    int config = 0;
    while (config < configs && !table.holds(config, position)) ++config;
    if (config == configs) return std::nullopt;
    if (config == 0) {
      packed.push_back(position);
      sizes.push_back(least.packed_size(table.length(position)));
    } else {
      add_sequence(table, groups.emplace_back(empty_group(table, config)), position);
    }
  }
  if (!packed.empty()) {
    auto bins = best_fit_decreasing(sizes, least.packed_capacity());
    cut_large(*bins, least.sequences);
    for (const std::vector<int>& bin : *bins) {
      WorkingGroup& group = groups.emplace_back(empty_group(table, 0));
      for (const int item : bin) {
        add_sequence(table, group, packed[static_cast<std::size_t>(item)]);
      }
    }
  }
  std::ranges::stable_sort(groups, std::greater<>(), &WorkingGroup::time);
  int free = 0;
  for (WorkingGroup& group : groups) {
    const int degree = table.configs()[static_cast<std::size_t>(group.config)].degree;
    if (degree > free) {
      step.emplace_back();
      free = table.devices();
    }
    free -= degree;
    step.back().makespan = std::max(step.back().makespan, group.time);
    step.back().groups.push_back(std::move(group));
  }
  return step;
}

}  // namespace stowage
