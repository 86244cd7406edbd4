#include "heuristics/partition/two_way.h"

#include <array>
#include <cstddef>
#include <utility>

namespace stowage {
namespace {

// Two opposite sides of items as chains, so that joining two pairs of sides is O(1).
class Sides {
 public:
  explicit Sides(std::size_t nodes) : next_(nodes, -1), ends_(nodes) {
    for (std::size_t i = 0; i < nodes; ++i) {
      const auto node = static_cast<std::int32_t>(i);
      ends_[i] = {{{node, node}, {-1, -1}}};
    }
  }

  // Joins two pairs of sides: items on the side of `a` become opposite to items on the side of `b`.
  // Both must be the first nodes of their pairs. The joined pair has the first node `a`.
  void oppose(std::size_t a, std::size_t b) {
    append(ends_[a][0], ends_[b][1]);
    append(ends_[a][1], ends_[b][0]);
  }

  // Returns for each node, once all are one pair, if it is opposite to `node`.
  std::vector<bool> opposite(std::size_t node, std::size_t first) const {
    std::vector<bool> on_second(next_.size(), false);
    for (std::int32_t i = ends_[first][1].first; i >= 0; i = next_[static_cast<std::size_t>(i)]) {
      on_second[static_cast<std::size_t>(i)] = true;
    }
    if (on_second[node]) on_second.flip();
    return on_second;
  }

 private:
  struct Chain {
    std::int32_t first = -1;
    std::int32_t last = -1;
  };
  void append(Chain& into, const Chain& more) {
    if (more.first < 0) return;
    if (into.first < 0) {
      into = more;
      return;
    }
    next_[static_cast<std::size_t>(into.last)] = more.first;
    into.last = more.last;
  }

  std::vector<std::int32_t> next_;  // next node of the same side
  std::vector<std::array<Chain, 2>> ends_;
};

// The difference of two opposite sides and their first node. A heap of differences has the greatest
// first.
struct Difference {
  std::int64_t cost = 0;
  std::int32_t node = 0;
};
using Differences = std::vector<Difference>;

// Moves the element at `place` down below the greater elements of the heap.
void sink(Differences& heap, std::size_t place) {
  const Difference moved = heap[place];
  for (std::size_t child = 2 * place + 1; child < heap.size(); child = 2 * place + 1) {
    if (child + 1 < heap.size()) {
      child += static_cast<std::size_t>(heap[child].cost < heap[child + 1].cost);
    }
    if (heap[child].cost <= moved.cost) break;
    heap[place] = heap[child];
    place = child;
  }
  heap[place] = moved;
}

}  // namespace

std::vector<bool> split_two(std::span<const std::int64_t> costs,
                            std::span<const std::int32_t> items, bool paired,
                            std::int64_t difference) {
  const auto cost = [&](std::size_t i) { return costs[static_cast<std::size_t>(items[i])]; };
  // Node of cost `difference`, on the side that shall cost less.
  const std::size_t dummy = items.size();
  Sides sides(items.size() + 1);
  Differences widest;
  widest.reserve(items.size() + 1);
  widest.push_back({difference, static_cast<std::int32_t>(dummy)});
  for (std::size_t i = 0; i < items.size(); i += paired ? 2 : 1) {
    const bool pair = paired && i + 1 < items.size();
    if (pair) sides.oppose(i, i + 1);
    widest.push_back({cost(i) - (pair ? cost(i + 1) : 0), static_cast<std::int32_t>(i)});
  }
  for (std::size_t i = widest.size() / 2; i-- > 0;) sink(widest, i);
  while (widest.size() > 1) {
    const Difference more = widest.front();
    widest.front() = widest.back();
    widest.pop_back();
    sink(widest, 0);
    Difference& less = widest.front();
    sides.oppose(static_cast<std::size_t>(more.node), static_cast<std::size_t>(less.node));
    less = {more.cost - less.cost, more.node};
    sink(widest, 0);
  }
  std::vector<bool> first = sides.opposite(dummy, static_cast<std::size_t>(widest.front().node));
  first.pop_back();
  return first;
}

}  // namespace stowage
