#include "heuristics/scatter/construct/lpt.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

namespace stowage {
namespace {

// The groups of one configuration. A group without room for the current sequence waits until
// shorter ones come. Sequences arrive longest first, so each group rarely changes between the
// heaps.
struct Queue {
  GroupConfig config;
  std::vector<std::pair<Ms, int>> ready;        // heap: least time first, ties by index
  std::vector<std::pair<Tokens, int>> waiting;  // heap: most room first

  // Returns the index of the group with room for `length` padded tokens that finishes first, or -1
  // if no group has room.
  int first(const std::vector<WorkingGroup>& groups, Tokens length) {
    while (!waiting.empty() && waiting.front().first >= length) {
      const int index = waiting.front().second;
      std::ranges::pop_heap(waiting);
      waiting.pop_back();
      push(groups, index);
    }
    while (!ready.empty()) {
      const int index = ready.front().second;
      const WorkingGroup& group = groups[static_cast<std::size_t>(index)];
      const Tokens room = config.room(group.held, std::ssize(group.positions));
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
  void push(const std::vector<WorkingGroup>& groups, int index) {
    ready.emplace_back(groups[static_cast<std::size_t>(index)].time, index);
    std::ranges::push_heap(ready, std::greater<>());
  }
};

}  // namespace

std::optional<WorkingMicroBatch> lpt_groups(const ScatterTable& table, std::span<const int> mix,
                                            std::span<const int> positions, Ms cutoff) {
  WorkingMicroBatch batch;
  std::vector<Queue> queues(mix.size());
  for (int config = static_cast<int>(mix.size()) - 1; config >= 0; --config) {
    Queue& queue = queues[static_cast<std::size_t>(config)];
    queue.config = table.configs()[static_cast<std::size_t>(config)];
    for (int i = 0; i < mix[static_cast<std::size_t>(config)]; ++i) {
      batch.groups.push_back(empty_group(table, config));
      queue.push(batch.groups, static_cast<int>(batch.groups.size()) - 1);
    }
  }
  for (const int position : positions) {
    int first = -1;
    Ms finish = cutoff;
    for (int config = static_cast<int>(mix.size()) - 1; config >= 0; --config) {
      Queue& queue = queues[static_cast<std::size_t>(config)];
      if (!table.holds(config, position)) continue;
      const int index = queue.first(batch.groups, queue.config.padded(table.length(position)));
      if (index < 0) continue;
      const Ms then = time_with(table, batch.groups[static_cast<std::size_t>(index)], position);
      if (then < finish) {
        finish = then;
        first = index;
      }
    }
    if (first < 0) return std::nullopt;
    WorkingGroup& group = batch.groups[static_cast<std::size_t>(first)];
    Queue& queue = queues[static_cast<std::size_t>(group.config)];
    queue.pop();
    add_sequence(table, group, position);
    const GroupConfig& config = table.configs()[static_cast<std::size_t>(group.config)];
    if (std::ssize(group.positions) < config.sequences) queue.push(batch.groups, first);
    batch.makespan = std::max(batch.makespan, finish);
  }
  return batch;
}

}  // namespace stowage
