#include "heuristics/partition/exchange.h"

#include <algorithm>
#include <cstdlib>

namespace stowage {
namespace {

// Returns `most` of the items, spread evenly over their order.
std::vector<std::int32_t> sample(std::span<const std::int32_t> items, std::size_t most) {
  if (items.size() <= most) return {items.begin(), items.end()};
  std::vector<std::int32_t> some;
  some.reserve(most);
  for (std::size_t i = 0; i < most; ++i) {
    some.push_back(items[i * items.size() / most]);
  }
  return some;
}

void sort_by_cost(std::vector<ItemSubset>& list) {
  std::ranges::sort(list, [](const ItemSubset& a, const ItemSubset& b) {
    return a.cost != b.cost ? a.cost < b.cost : a.items < b.items;
  });
}

// Returns the largest number of items with at most `most` pairs (`size` 2) or triples.
std::size_t items_for(std::size_t most, int size) {
  std::size_t count = 2;
  const auto subsets = [size](std::size_t n) {
    return size == 2 ? n * (n - 1) / 2 : n * (n - 1) * (n - 2) / 6;
  };
  while (subsets(count + 1) <= most) ++count;
  return count;
}

}  // namespace

SubsetLists::SubsetLists(std::span<const std::int64_t> costs, std::span<const std::int32_t> items,
                         int depth, std::size_t most) {
  const auto cost = [&](std::int32_t item) { return costs[static_cast<std::size_t>(item)]; };
  by_size[0].push_back({});
  by_size[1].reserve(items.size());
  for (auto it = items.rbegin(); it != items.rend(); ++it) by_size[1].push_back({cost(*it), {*it}});
  if (depth < 2) return;
  const std::vector<std::int32_t> two = sample(items, items_for(most, 2));
  for (std::size_t i = 0; i < two.size(); ++i) {
    for (std::size_t j = i + 1; j < two.size(); ++j) {
      by_size[2].push_back({cost(two[i]) + cost(two[j]), {two[i], two[j]}});
    }
  }
  sort_by_cost(by_size[2]);
  if (depth < 3) return;
  const std::vector<std::int32_t> three = sample(items, items_for(most, 3));
  for (std::size_t i = 0; i < three.size(); ++i) {
    for (std::size_t j = i + 1; j < three.size(); ++j) {
      const std::int64_t pair = cost(three[i]) + cost(three[j]);
      for (std::size_t k = j + 1; k < three.size(); ++k) {
        by_size[3].push_back({pair + cost(three[k]), {three[i], three[j], three[k]}});
      }
    }
  }
  sort_by_cost(by_size[3]);
}

std::size_t SubsetLists::size() const {
  std::size_t all = 0;
  for (const auto& list : by_size) all += list.size();
  return all;
}

std::optional<BinExchange> best_swap(std::span<const std::int64_t> costs,
                                     std::span<const std::int32_t> dearer,
                                     std::span<const std::int32_t> cheaper, std::int64_t difference,
                                     ChangeRange change) {
  const auto cost = [&](std::int32_t item) { return costs[static_cast<std::size_t>(item)]; };
  std::optional<BinExchange> best;
  std::int64_t distance = difference;  // distance of twice the moved cost from `difference`
  std::size_t i = 0;
  std::size_t j = 0;
  const bool swaps = change.least <= 0 && change.most >= 0;
  while (swaps && i < dearer.size() && j < cheaper.size()) {
    const std::int64_t off = 2 * (cost(dearer[i]) - cost(cheaper[j])) - difference;
    if (std::abs(off) < distance) {
      distance = std::abs(off);
      best = BinExchange{1, 1, {cost(dearer[i]), {dearer[i]}}, {cost(cheaper[j]), {cheaper[j]}}};
      if (distance == 0) return best;
    }
    off > 0 ? ++i : ++j;
  }
  for (std::size_t k = 0; change.most >= 1 && k < dearer.size(); ++k) {
    const std::int64_t off = 2 * cost(dearer[k]) - difference;
    if (std::abs(off) >= distance) continue;
    distance = std::abs(off);
    best = BinExchange{1, 0, {cost(dearer[k]), {dearer[k]}}, {}};
  }
  return best;
}

std::optional<BinExchange> best_exchange(const SubsetLists& dearer, const SubsetLists& cheaper,
                                         std::int64_t difference, ChangeRange change) {
  std::optional<BinExchange> best;
  std::int64_t distance = difference;  // distance of twice the moved cost from `difference`
  for (int given = 0; given <= kMaxExchanged; ++given) {
    const auto& gives = dearer.by_size[static_cast<std::size_t>(given)];
    for (int taken = 0; taken <= kMaxExchanged; ++taken) {
      if (given - taken < change.least || given - taken > change.most) continue;
      const auto& takes = cheaper.by_size[static_cast<std::size_t>(taken)];
      std::size_t i = 0;
      std::size_t j = 0;
      // Each step discards one subset that cannot do better: it moves too little with the cheapest
      // remaining subset, or too much with all of them.
      while (i < gives.size() && j < takes.size()) {
        const std::int64_t off = 2 * (gives[i].cost - takes[j].cost) - difference;
        if (std::abs(off) < distance) {
          distance = std::abs(off);
          best = BinExchange{given, taken, gives[i], takes[j]};
          if (distance == 0) return best;
        }
        off < 0 ? ++i : ++j;
      }
    }
  }
  return best;
}

}  // namespace stowage
