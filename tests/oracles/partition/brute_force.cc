#include "tests/oracles/partition/brute_force.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

namespace stowage {
namespace {

bool counts_hold(const PartitionInstance& instance, const std::vector<std::size_t>& counts) {
  const auto [least, most] = std::ranges::minmax(counts);
  if (least == 0) return false;
  if (instance.counts == PartitionCounts::equal) return least == most;
  return instance.counts == PartitionCounts::any || most - least <= 1;
}

}  // namespace

PartitionOptimum brute_force_partition(const PartitionInstance& instance) {
  const auto k = static_cast<std::size_t>(instance.bins);
  PartitionOptimum best{.largest = std::numeric_limits<std::int64_t>::max()};
  std::vector<std::size_t> bin_of(instance.lengths.size(), 0);
  while (true) {
    std::vector<std::int64_t> costs(k, 0);
    std::vector<std::size_t> counts(k, 0);
    for (std::size_t i = 0; i < bin_of.size(); ++i) {
      const Tokens s = instance.lengths[i];
      costs[bin_of[i]] += instance.quadratic * s * s + instance.linear * s;
      ++counts[bin_of[i]];
    }
    const auto [least, most] = std::ranges::minmax(costs);
    if (counts_hold(instance, counts) &&
        (most < best.largest || (most == best.largest && least > best.smallest))) {
      best = {.largest = most, .smallest = least};
    }
    std::size_t digit = 0;
    while (digit < bin_of.size() && ++bin_of[digit] == k) bin_of[digit++] = 0;
    if (digit == bin_of.size()) return best;
  }
}

}  // namespace stowage
