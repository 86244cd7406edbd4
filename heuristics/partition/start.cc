#include "heuristics/partition/start.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <queue>
#include <utility>

#include "instances/numbers.h"

namespace stowage {
namespace {

// Items of a bin as a chain through `next`, so that joining two bins is O(1).
struct Chain {
  std::int64_t load = 0;
  std::int32_t first = -1;
  std::int32_t last = -1;
};

// Largest differencing of rounds of `each` items, at most one a bin: see the header.
ItemBins differenced(std::span<const std::int64_t> costs, std::int64_t bins, std::size_t each) {
  const std::size_t k = at(bins);
  const std::size_t rounds = (costs.size() + each - 1) / each;
  std::vector<Chain> chains(rounds * k);  // of each round k, dearest first
  for (std::size_t i = 0; i < costs.size(); ++i) {
    chains[i / each * k + i % each] = {costs[i], static_cast<std::int32_t>(i),
                                       static_cast<std::int32_t>(i)};
  }
  std::vector<std::int32_t> next(costs.size(), -1);
  using Spread = std::pair<std::int64_t, std::size_t>;  // and the round
  std::priority_queue<Spread> widest;
  const auto push = [&](std::size_t round) {
    widest.push({chains[round * k].load - chains[round * k + k - 1].load, round});
  };
  for (std::size_t round = 0; round < rounds; ++round) push(round);
  while (widest.size() > 1) {
    const std::size_t to = widest.top().second;
    widest.pop();
    const std::size_t from = widest.top().second;
    widest.pop();
    for (std::size_t i = 0; i < k; ++i) {
      Chain& into = chains[to * k + i];
      const Chain& more = chains[from * k + k - 1 - i];
      if (more.first < 0) continue;
      if (into.first < 0) {
        into = more;
        continue;
      }
      next[at(into.last)] = more.first;
      into.last = more.last;
      into.load += more.load;
    }
    const auto begin = chains.begin() + static_cast<std::ptrdiff_t>(to * k);
    std::sort(begin, begin + static_cast<std::ptrdiff_t>(k), [](const Chain& a, const Chain& b) {
      return a.load != b.load ? a.load > b.load : a.first < b.first;
    });
    push(to);
  }
  ItemBins made(k);
  for (std::size_t b = 0; b < k; ++b) {
    const Chain& chain = chains[widest.top().second * k + b];
    for (std::int32_t item = chain.first; item >= 0; item = next[at(item)]) made[b].push_back(item);
    std::ranges::sort(made[b]);
  }
  return made;
}

}  // namespace

// A bin's load is its cost and then its items: an empty bin comes before one of items without cost.
ItemBins longest_first(std::span<const std::int64_t> costs, std::int64_t bins) {
  using Load = std::pair<std::pair<std::int64_t, std::size_t>, std::int32_t>;  // cost, items, bin
  std::priority_queue<Load, std::vector<Load>, std::greater<>> cheapest;
  for (std::int32_t b = 0; b < bins; ++b) cheapest.push({{0, 0}, b});
  ItemBins made(at(bins));
  for (std::size_t i = 0; i < costs.size(); ++i) {
    auto [load, bin] = cheapest.top();
    cheapest.pop();
    made[at(bin)].push_back(static_cast<std::int32_t>(i));
    cheapest.push({{load.first + costs[i], load.second + 1}, bin});
  }
  return made;
}

ItemBins differenced_items(std::span<const std::int64_t> costs, std::int64_t bins) {
  return differenced(costs, bins, 1);
}

ItemBins differenced_rounds(std::span<const std::int64_t> costs, std::int64_t bins) {
  std::vector<std::int64_t> sum = {0};  // entry i: of the first i items
  for (const std::int64_t cost : costs) sum.push_back(sum.back() + cost);
  ItemBins made;
  std::size_t begin = 0;
  std::size_t end = costs.size();
  while (static_cast<std::int64_t>(made.size()) + 1 < bins) {
    const std::size_t left = at(bins) - made.size();
    const std::size_t fewest = costs.size() / at(bins);
    const std::size_t count =
        end - begin - fewest <= (fewest + 1) * (left - 1) ? fewest : fewest + 1;
    const std::int64_t least = costs[begin] + sum[end] - sum[end - (count - 1)];
    if (least <= (sum[end] - sum[begin]) / static_cast<std::int64_t>(left)) break;
    std::vector<std::int32_t>& bin = made.emplace_back();
    bin.push_back(static_cast<std::int32_t>(begin++));
    for (std::size_t i = end - (count - 1); i < end; ++i) {
      bin.push_back(static_cast<std::int32_t>(i));
    }
    end -= count - 1;
  }
  const auto left = bins - static_cast<std::int64_t>(made.size());
  for (std::vector<std::int32_t>& bin :
       differenced(costs.subspan(begin, end - begin), left, at(left))) {
    for (std::int32_t& item : bin) item += static_cast<std::int32_t>(begin);
    made.push_back(std::move(bin));
  }
  return made;
}

}  // namespace stowage
