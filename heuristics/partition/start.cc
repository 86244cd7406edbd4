#include "heuristics/partition/start.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <queue>
#include <utility>

#include "heuristics/partition/differencing.h"
#include "instances/numeric/numbers.h"

namespace stowage {

// Bins are ordered by cost, then by the number of items: an empty bin comes before a bin of
// zero-cost items.
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

std::optional<ItemBins> giants_apart(std::span<const std::int64_t> costs,
                                     std::span<const std::int64_t> ids, std::int64_t bins) {
  std::vector<std::int64_t> sum = {0};  // entry i: sum of the first i items
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
  if (made.empty()) return std::nullopt;
  const auto left = bins - static_cast<std::int64_t>(made.size());
  for (std::vector<std::int32_t>& bin : differenced(
           costs.subspan(begin, end - begin), ids.subspan(begin, end - begin), left, at(left))) {
    for (std::int32_t& item : bin) item += static_cast<std::int32_t>(begin);
    made.push_back(std::move(bin));
  }
  return made;
}

}  // namespace stowage
