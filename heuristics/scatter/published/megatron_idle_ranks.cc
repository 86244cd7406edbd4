#include "heuristics/scatter/published/megatron_idle_ranks.h"

#include <utility>

#include "instances/numeric/numbers.h"

namespace stowage {

void double_smallest(const ScatterTable& table, std::span<const int> levels,
                     std::vector<GroupDraft>& groups, std::vector<std::size_t>& own, int& free) {
  const auto degree = [&](int level) { return table.levels()[at(level)].degree; };
  while (free > 0) {
    std::size_t chosen = groups.size();
    for (std::size_t g = 0; g < groups.size(); ++g) {
      if (own[g] + 1 == levels.size()) continue;
      const int next = levels[own[g] + 1];
      if (degree(next) - degree(levels[own[g]]) > free) continue;
      if (chosen < groups.size() && own[g] >= own[chosen]) continue;
      if (has_room(table, group_of(table, next, groups[g].positions))) chosen = g;
    }
    if (chosen == groups.size()) return;
    GroupDraft wider = empty_group(table, levels[own[chosen] + 1]);
    free -= degree(wider.level) - degree(groups[chosen].level);
    for (const int position : groups[chosen].positions) add_sequence(table, wider, position);
    groups[chosen] = std::move(wider);
    ++own[chosen];
  }
}

}  // namespace stowage
