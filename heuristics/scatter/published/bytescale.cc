#include "heuristics/scatter/published/bytescale.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "heuristics/packing.h"

namespace stowage {

std::optional<StepDraft> bytescale(const ScatterTable& table) {
  StepDraft step;
  std::vector<GroupDraft> groups;
  std::vector<int> packed;
  std::vector<Tokens> sizes;
  const int levels = static_cast<int>(table.levels().size());
  const Level& least = table.levels().front();
  for (int position = 0; position < table.size(); ++position) {
    int level = 0;
    while (level < levels && !table.holds(level, position)) ++level;
    if (level == levels) return std::nullopt;
    if (level == 0) {
      packed.push_back(position);
      sizes.push_back(least.packed_size(table.length(position)));
    } else {
      add_sequence(table, groups.emplace_back(empty_group(table, level)), position);
    }
  }
  if (!packed.empty()) {
    auto bins = best_fit_decreasing(sizes, least.packed_capacity());
    cut_large(*bins, least.sequences);
    for (const std::vector<int>& bin : *bins) {
      GroupDraft& group = groups.emplace_back(empty_group(table, 0));
      for (const int item : bin) {
        add_sequence(table, group, packed[static_cast<std::size_t>(item)]);
      }
    }
  }
  std::ranges::stable_sort(groups, std::greater<>(), &GroupDraft::time);
  int free = 0;
  for (GroupDraft& group : groups) {
    const int degree = table.levels()[static_cast<std::size_t>(group.level)].degree;
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
