#include "heuristics/scatter_lpt.h"

#include <algorithm>

namespace stowage {

std::optional<MicroBatchDraft> lpt_groups(const ScatterTable& table, std::span<const int> mix,
                                          std::span<const int> positions, Ms cutoff) {
  MicroBatchDraft batch;
  for (int level = static_cast<int>(mix.size()) - 1; level >= 0; --level) {
    for (int i = 0; i < mix[static_cast<std::size_t>(level)]; ++i) {
      batch.groups.push_back(empty_group(table, level));
    }
  }
  for (const int position : positions) {
    GroupDraft* first = nullptr;
    Ms finish = cutoff;
    int empty_level = -1;  // an empty group of this level was seen: its twins are no better
    for (GroupDraft& group : batch.groups) {
      if (group.positions.empty()) {
        if (group.level == empty_level) continue;
        empty_level = group.level;
      }
      const Ms then = group.time + table.cost(position, group.level);
      if (then < finish && has_room(table, group, position)) {
        finish = then;
        first = &group;
      }
    }
    if (first == nullptr) return std::nullopt;
    add_sequence(table, *first, position);
    batch.makespan = std::max(batch.makespan, finish);
  }
  return batch;
}

}  // namespace stowage
