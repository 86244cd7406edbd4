#include "formulations/scatter/lp/step_items.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace stowage {
namespace {

constexpr double kSpread = 1.3;  // largest ratio of merged lengths

}  // namespace

std::vector<StepItem> step_items(const ScatterTable& table, double resolution) {
  const double most_area = table.total_area() / resolution;
  const auto& kinds = table.kinds();
  const auto& configs = table.configs();
  // Returns the number of configurations that hold the kind. It is equal for merged kinds and
  // larger for shorter kinds.
  const auto fits = [&](std::size_t kind) {
    return std::ranges::count_if(
        configs, [&](const GroupConfig& config) { return kinds[kind].length <= config.longest; });
  };
  std::vector<StepItem> items;
  for (std::size_t first = 0; first < kinds.size();) {
    std::size_t last = first;
    double area = kinds[first].area * kinds[first].count;
    while (last + 1 < kinds.size() && fits(last + 1) == fits(first) &&
           static_cast<double>(kinds[last + 1].length) * kSpread >=
               static_cast<double>(kinds[first].length) &&
           area + kinds[last + 1].area * kinds[last + 1].count <= most_area) {
      ++last;
      area += kinds[last].area * kinds[last].count;
    }
    StepItem item{.first = static_cast<int>(first), .last = static_cast<int>(last)};
    item.tokens.resize(configs.size());
    item.cost.resize(configs.size());
    for (std::size_t kind = first; kind <= last; ++kind) {
      const double count = kinds[kind].count;
      item.count += count;
      for (std::size_t config = 0; config < configs.size(); ++config) {
        item.tokens[config] +=
            count * static_cast<double>(configs[config].padded(kinds[kind].length));
        item.cost[config] +=
            count * table.kind_cost(static_cast<int>(kind), static_cast<int>(config));
      }
    }
    for (double& tokens : item.tokens) tokens /= item.count;
    for (Ms& cost : item.cost) cost /= item.count;
    items.push_back(std::move(item));
    first = last + 1;
  }
  return items;
}

}  // namespace stowage
