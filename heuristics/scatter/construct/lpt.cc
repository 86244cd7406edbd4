#include "heuristics/scatter/construct/lpt.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

namespace stowage {
namespace {

// The groups of one level. A group without room for the current sequence waits until shorter ones
// come. Sequences arrive longest first, so each group rarely changes between the heaps.
struct Queue {
  Level level;
  std::vector<std::pair<Ms, int>> ready;        // heap: least time first, ties by index
  std::vector<std::pair<Tokens, int>> waiting;  // heap: most room first

  // Returns the index of the group with room for `length` that finishes first, or -1 if no group
  // has room.
  int first(const std::vector<GroupDraft>& groups, Tokens length) {
    while (!waiting.empty() && waiting.front().first >= length) {
      const int index = waiting.front().second;
      std::ranges::pop_heap(waiting);
      waiting.pop_back();
      push(groups, index);
    }
    while (!ready.empty()) {
      const int index = ready.front().second;
      const GroupDraft& group = groups[static_cast<std::size_t>(index)];
      const Tokens room = level.room(group.held, std::ssize(group.positions));
      if (room >= length) return index;
      pop();
      waiting.emplace_back(room, index);
      std::ranges::push_heap(waiting);
    }
    return -1;
  }
  void pop() {
    std::ranges::pop_heap(ready, std::greater<>());
    ready.pop_back();
  }
  void push(const std::vector<GroupDraft>& groups, int index) {
    ready.emplace_back(groups[static_cast<std::size_t>(index)].time, index);
    std::ranges::push_heap(ready, std::greater<>());
  }
};

}  // namespace

std::optional<MicroBatchDraft> lpt_groups(const ScatterTable& table, std::span<const int> mix,
                                          std::span<const int> positions, Ms cutoff) {
  MicroBatchDraft batch;
  std::vector<Queue> queues(mix.size());
  for (int level = static_cast<int>(mix.size()) - 1; level >= 0; --level) {
    Queue& queue = queues[static_cast<std::size_t>(level)];
    queue.level = table.levels()[static_cast<std::size_t>(level)];
    for (int i = 0; i < mix[static_cast<std::size_t>(level)]; ++i) {
      batch.groups.push_back(empty_group(table, level));
      queue.push(batch.groups, static_cast<int>(batch.groups.size()) - 1);
    }
  }
  for (const int position : positions) {
    int first = -1;
    Ms finish = cutoff;
    for (int level = static_cast<int>(mix.size()) - 1; level >= 0; --level) {
      Queue& queue = queues[static_cast<std::size_t>(level)];
      if (!table.holds(level, position)) continue;
      const int index = queue.first(batch.groups, table.length(position));
      if (index < 0) continue;
      const Ms then = time_with(table, batch.groups[static_cast<std::size_t>(index)], position);
      if (then < finish) {
        finish = then;
        first = index;
      }
    }
    if (first < 0) return std::nullopt;
    GroupDraft& group = batch.groups[static_cast<std::size_t>(first)];
    Queue& queue = queues[static_cast<std::size_t>(group.level)];
    queue.pop();
    add_sequence(table, group, position);
    const Level& level = table.levels()[static_cast<std::size_t>(group.level)];
    if (std::ssize(group.positions) < level.sequences) queue.push(batch.groups, first);
    batch.makespan = std::max(batch.makespan, finish);
  }
  return batch;
}

}  // namespace stowage
