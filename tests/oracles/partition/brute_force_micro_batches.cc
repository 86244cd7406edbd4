#include "tests/oracles/partition/brute_force_micro_batches.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

namespace stowage {
namespace {

// Returns the cost of the most expensive rank if the assignment of sequences to micro-batches is a
// plan, else nullopt.
std::optional<std::int64_t> largest_of(const MicroBatchInstance& instance,
                                       const std::vector<std::size_t>& place, std::size_t each) {
  const auto ranks = static_cast<std::size_t>(instance.ranks);
  std::vector<Tokens> tokens(ranks * each, 0);
  std::vector<std::int64_t> costs(ranks, 0);
  for (std::size_t i = 0; i < place.size(); ++i) {
    const Tokens s = instance.lengths[i];
    tokens[place[i]] += s;
    costs[place[i] / each] += instance.quadratic * s * s + instance.linear * s;
    for (std::size_t j = 0; j < i && !instance.kept.empty(); ++j) {
      if (instance.kept[i] == instance.kept[j] && place[i] != place[j]) return std::nullopt;
    }
  }
  if (std::ranges::min(tokens) == 0 || std::ranges::max(tokens) > instance.max_tokens) {
    return std::nullopt;
  }
  return std::ranges::max(costs);
}

}  // namespace

std::optional<MicroBatchOptimum> brute_force_micro_batches(const MicroBatchInstance& instance) {
  const std::size_t n = instance.lengths.size();
  for (auto each = static_cast<std::size_t>(instance.at_least);
       each * static_cast<std::size_t>(instance.ranks) <= n; ++each) {
    if (each % static_cast<std::size_t>(instance.multiple_of) != 0) continue;
    const std::size_t places = each * static_cast<std::size_t>(instance.ranks);
    std::int64_t best = std::numeric_limits<std::int64_t>::max();
    std::vector<std::size_t> place(n, 0);
    for (std::size_t digit = 0; digit < n;) {
      if (const auto largest = largest_of(instance, place, each)) best = std::min(best, *largest);
      for (digit = 0; digit < n && ++place[digit] == places;) place[digit++] = 0;
    }
    if (best == std::numeric_limits<std::int64_t>::max()) continue;
    return MicroBatchOptimum{.each = static_cast<std::int64_t>(each), .largest = best};
  }
  return std::nullopt;
}

}  // namespace stowage
