#include "heuristics/scatter_fit.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace stowage {
namespace {

// Levels that can hold the sequence within `target`, least device-time first.
std::vector<int> levels_by_area(const ScatterTable& table, int position, Ms target) {
  std::vector<int> levels;
  for (int level = 0; level < static_cast<int>(table.levels().size()); ++level) {
    const Level& group = table.levels()[static_cast<std::size_t>(level)];
    if (table.holds(level, position) && group.overhead + table.cost(position, level) <= target) {
      levels.push_back(level);
    }
  }
  std::ranges::stable_sort(levels, {}, [&](int level) {
    return table.levels()[static_cast<std::size_t>(level)].degree * table.cost(position, level);
  });
  return levels;
}

}  // namespace

std::optional<MicroBatchDraft> fit_groups(const ScatterTable& table, std::span<const int> positions,
                                          Ms target) {
  MicroBatchDraft batch;
  int devices_left = table.devices();
  std::vector<int> levels;
  int kind = -1;
  for (const int position : positions) {
    if (table.kind(position) != kind) levels = levels_by_area(table, position, target);
    kind = table.kind(position);
    GroupDraft* chosen = nullptr;
    for (const int level : levels) {
      for (GroupDraft& group : batch.groups) {
        if (group.level == level && (chosen == nullptr || group.time > chosen->time) &&
            group.time + table.cost(position, level) <= target &&
            has_room(table, group, position)) {
          chosen = &group;
        }
      }
      if (chosen != nullptr) break;
      const int degree = table.levels()[static_cast<std::size_t>(level)].degree;
      if (degree <= devices_left) {
        devices_left -= degree;
        chosen = &batch.groups.emplace_back(empty_group(table, level));
        break;
      }
    }
    if (chosen == nullptr) return std::nullopt;
    add_sequence(table, *chosen, position);
    batch.makespan = std::max(batch.makespan, chosen->time);
  }
  return batch;
}

std::optional<MicroBatchDraft> multifit(const ScatterTable& table, std::span<const int> positions,
                                        Ms lower, Ms upper, int rounds) {
  // Find a target that works by doubling the distance to the lower bound, then bisect.
  std::optional<MicroBatchDraft> best;
  for (int halvings = 12; !best && halvings >= 0; --halvings) {
    best = fit_groups(table, positions, lower + std::ldexp(upper - lower, -halvings));
  }
  for (int round = 0; best && round < rounds && best->makespan > lower; ++round) {
    const Ms target = (lower + best->makespan) / 2;
    std::optional<MicroBatchDraft> tighter = fit_groups(table, positions, target);
    if (tighter) {
      best = std::move(tighter);
    } else {
      lower = target;
    }
  }
  return best;
}

}  // namespace stowage
