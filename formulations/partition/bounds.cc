#include "formulations/partition/bounds.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "instances/numeric/numbers.h"
#include "instances/numeric/radix_sort.h"

namespace stowage {

std::vector<PartitionBound> partition_bounds(std::span<const std::int64_t> costs, std::int64_t bins,
                                             std::int64_t fewest) {
  std::vector<std::int64_t> falling(costs.begin(), costs.end());
  radix_sort(falling, [](std::int64_t cost) { return sort_key(-cost); });
  const auto n = static_cast<std::int64_t>(falling.size());
  // Entry i: sum of the i most expensive items.
  std::vector<std::int64_t> first(falling.size() + 1, 0);
  std::partial_sum(falling.begin(), falling.end(), first.begin() + 1);
  const std::int64_t average = (first.back() + bins - 1) / bins;
  std::int64_t pigeonhole = 0;
  for (std::int64_t shared = 1; (shared - 1) * bins < n; ++shared) {
    const std::int64_t end = (shared - 1) * bins + 1;
    const std::int64_t more = std::max<std::int64_t>(0, fewest - shared);
    pigeonhole = std::max(
        pigeonhole, first[at(end)] - first[at(end - shared)] + first.back() - first[at(n - more)]);
  }
  // The greatest bound comes last. If both are equal, the one that is easier to check by hand does.
  std::vector<PartitionBound> bounds = {{"average", average}, {"pigeonhole", pigeonhole}};
  if (average >= pigeonhole) std::swap(bounds[0], bounds[1]);
  return bounds;
}

}  // namespace stowage
