#include "heuristics/partition/two_way.h"

#include <cstddef>
#include <queue>
#include <utility>

namespace stowage {
namespace {

// Items that stand on opposite sides, as edges of a tree that grows with every differencing.
class Opposites {
 public:
  explicit Opposites(std::size_t nodes) : first_(nodes, -1) {}

  void join(std::size_t a, std::size_t b) {
    add(a, b);
    add(b, a);
  }

  // The side of every node: that of node `root` is the first.
  std::vector<bool> sides(std::size_t root) const {
    std::vector<bool> on_first(first_.size(), false);
    std::vector<std::pair<std::size_t, std::size_t>> open = {{root, root}};  // node, where from
    on_first[root] = true;
    while (!open.empty()) {
      const auto [node, from] = open.back();
      open.pop_back();
      for (std::int32_t e = first_[node]; e >= 0; e = edges_[static_cast<std::size_t>(e)].next) {
        const std::size_t to = edges_[static_cast<std::size_t>(e)].to;
        if (to == from) continue;
        on_first[to] = !on_first[node];
        open.emplace_back(to, node);
      }
    }
    return on_first;
  }

 private:
  struct Edge {
    std::size_t to = 0;
    std::int32_t next = -1;
  };
  void add(std::size_t a, std::size_t b) {
    edges_.push_back({b, first_[a]});
    first_[a] = static_cast<std::int32_t>(edges_.size()) - 1;
  }

  std::vector<std::int32_t> first_;
  std::vector<Edge> edges_;
};

}  // namespace

std::vector<bool> split_two(std::span<const std::int64_t> costs,
                            std::span<const std::int32_t> items, bool paired,
                            std::int64_t difference) {
  const auto cost = [&](std::size_t i) { return costs[static_cast<std::size_t>(items[i])]; };
  const std::size_t dummy = items.size();  // costs `difference`, on the side that is to cost less
  Opposites opposites(items.size() + 1);
  std::vector<std::pair<std::int64_t, std::size_t>> start = {{difference, dummy}};
  for (std::size_t i = 0; i < items.size(); i += paired ? 2 : 1) {
    if (paired && i + 1 < items.size()) {
      opposites.join(i, i + 1);
      start.emplace_back(cost(i) - cost(i + 1), i);
    } else {
      start.emplace_back(cost(i), i);
    }
  }
  std::priority_queue<std::pair<std::int64_t, std::size_t>> widest({}, std::move(start));
  while (widest.size() > 1) {
    const auto [more, its] = widest.top();
    widest.pop();
    const auto [less, other] = widest.top();
    widest.pop();
    opposites.join(its, other);
    widest.emplace(more - less, its);
  }
  std::vector<bool> side = opposites.sides(dummy);
  side.pop_back();
  for (std::size_t i = 0; i < side.size(); ++i) side[i] = !side[i];
  return side;
}

}  // namespace stowage
