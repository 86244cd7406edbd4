#include "heuristics/scatter/published/megatron_idle_ranks.h"

#include <utility>

#include "instances/numeric/numbers.h"

namespace stowage {

void double_smallest(const ScatterTable& table, std::span<const int> configs,
                     std::vector<WorkingGroup>& groups, std::vector<std::size_t>& own, int& free) {
  const auto degree = [&](int config) { return table.configs()[at(config)].degree; };
  while (free > 0) {
    std::size_t chosen = groups.size();
    for (std::size_t g = 0; g < groups.size(); ++g) {
      if (own[g] + 1 == configs.size()) continue;
      const int next = configs[own[g] + 1];
      if (degree(next) - degree(configs[own[g]]) > free) continue;
      if (chosen < groups.size() && own[g] >= own[chosen]) continue;
      if (has_room(table, group_of(table, next, groups[g].positions))) chosen = g;
    }
    if (chosen == groups.size()) return;
    WorkingGroup wider = empty_group(table, configs[own[chosen] + 1]);
    free -= degree(wider.config) - degree(groups[chosen].config);
    for (const int position : groups[chosen].positions) add_sequence(table, wider, position);
    groups[chosen] = std::move(wider);
    ++own[chosen];
  }
}

}  // namespace stowage
