#include "heuristics/scatter_fit.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

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

// The groups of one level in the order of their opening, with what each has left of time and
// memory, in a segment tree that finds the first with enough of both.
class OpenGroups {
 public:
  int first(Ms time, Tokens tokens) const { return count_ == 0 ? -1 : first(1, time, tokens); }

  int open(Ms time, Tokens tokens) {
    if (count_ == leaves_) grow();
    set(count_, time, tokens);
    return count_++;
  }

  void take(int slot, Ms time, Tokens tokens) {
    const Room& room = rooms_[static_cast<std::size_t>(leaves_ + slot)];
    set(slot, room.time - time, room.tokens - tokens);
  }

 private:
  struct Room {
    Ms time = -1;
    Tokens tokens = -1;
  };

  // In the subtree of `node`; its most of time and of tokens may belong to different groups.
  int first(int node, Ms time, Tokens tokens) const {
    const Room& room = rooms_[static_cast<std::size_t>(node)];
    if (room.time < time || room.tokens < tokens) return -1;
    if (node >= leaves_) return node - leaves_;
    const int left = first(2 * node, time, tokens);
    return left >= 0 ? left : first(2 * node + 1, time, tokens);
  }

  void set(int slot, Ms time, Tokens tokens) {
    auto node = static_cast<std::size_t>(leaves_ + slot);
    rooms_[node] = {time, tokens};
    while (node /= 2) {
      const Room& left = rooms_[2 * node];
      const Room& right = rooms_[2 * node + 1];
      rooms_[node] = {std::max(left.time, right.time), std::max(left.tokens, right.tokens)};
    }
  }

  void grow() {
    const std::vector<Room> old(rooms_.end() - leaves_, rooms_.end());
    leaves_ = std::max(4, 2 * leaves_);
    rooms_.assign(static_cast<std::size_t>(2 * leaves_), {});
    for (int slot = 0; slot < count_; ++slot) {
      const Room& room = old[static_cast<std::size_t>(slot)];
      set(slot, room.time, room.tokens);
    }
  }

  int leaves_ = 0;
  int count_ = 0;
  std::vector<Room> rooms_;
};

}  // namespace

std::optional<MicroBatchDraft> fit_groups(const ScatterTable& table, std::span<const int> positions,
                                          Ms target) {
  MicroBatchDraft batch;
  const Ms most = target * (1 - 1e-12);  // sums of what is left must not round above the target
  int devices_left = table.devices();
  std::vector<OpenGroups> open(table.levels().size());
  std::vector<std::vector<int>> index(table.levels().size());  // of a level's slots in batch.groups
  std::vector<int> levels;
  int kind = -1;
  for (const int position : positions) {
    if (table.kind(position) != kind) levels = levels_by_area(table, position, target);
    kind = table.kind(position);
    const Tokens length = table.length(position);
    int chosen = -1;
    for (const int level : levels) {
      const auto l = static_cast<std::size_t>(level);
      const Ms time = table.cost(position, level);
      int slot = open[l].first(time, length);
      const Level& made = table.levels()[l];
      if (slot < 0 && made.degree <= devices_left) {
        devices_left -= made.degree;
        slot = open[l].open(most - made.overhead, made.capacity);
        index[l].push_back(static_cast<int>(batch.groups.size()));
        batch.groups.push_back(empty_group(table, level));
      }
      if (slot < 0) continue;
      open[l].take(slot, time, length);
      chosen = index[l][static_cast<std::size_t>(slot)];
      break;
    }
    if (chosen < 0) return std::nullopt;
    GroupDraft& group = batch.groups[static_cast<std::size_t>(chosen)];
    add_sequence(table, group, position);
    batch.makespan = std::max(batch.makespan, group.time);
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
