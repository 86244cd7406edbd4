#include "formulations/partition/bin_count.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>

namespace stowage {
namespace {

constexpr std::int64_t kMostStairs = 20;  // largest k of u_k

Tokens divided_up(Tokens a, Tokens b) { return a / b + (a % b != 0); }

// Returns the bound of u_k: a size x with (k + 1) x a multiple of the capacity counts x / capacity,
// another one floor((k + 1) x / capacity) / k. The sums are integers: numbers of parts of a bin,
// each of which is 1 / (k capacity) of it.
Tokens staircase(std::span<const Tokens> sizes, Tokens capacity, std::int64_t k) {
  Tokens whole = 0;  // bins
  Tokens parts = 0;  // of 1 / (k capacity)
  for (const Tokens size : sizes) {
    const Tokens stairs = (k + 1) * size / capacity;
    const bool exact = (k + 1) * size % capacity == 0;
    // A bin has k capacity parts. Whole bins are carried over, so that the sum of parts stays
    // small.
    parts += exact ? k * size : stairs * capacity;
    whole += parts / (k * capacity);
    parts %= k * capacity;
  }
  return whole + (parts > 0 ? 1 : 0);
}

}  // namespace

Tokens least_rows(std::span<const Tokens> lengths, Tokens cap) {
  std::vector<Tokens> sum(lengths.size() + 1, 0);
  for (std::size_t k = 0; k < lengths.size(); ++k) sum[k + 1] = sum[k] + lengths[k];
  const auto first_at_most = [&](Tokens length) {
    return static_cast<std::size_t>(
        std::ranges::partition_point(lengths, [&](Tokens l) { return l > length; }) -
        lengths.begin());
  };
  Tokens best = divided_up(sum.back(), cap);
  const std::size_t small = first_at_most(cap / 2);  // first of the lengths up to cap / 2
  best = std::max(best, static_cast<Tokens>(small));
  for (std::size_t k = small; k < lengths.size(); ++k) {
    if (k + 1 < lengths.size() && lengths[k + 1] == lengths[k]) continue;
    const Tokens alpha = lengths[k];
    // Lengths above cap - alpha share no row with a length of at least alpha. The other large
    // lengths need a row each, and their remaining room takes the rest.
    const std::size_t alone = first_at_most(cap - alpha);
    const Tokens room = static_cast<Tokens>(small - alone) * cap - (sum[small] - sum[alone]);
    const Tokens rest = sum[k + 1] - sum[small] - room;
    best = std::max(best, static_cast<Tokens>(small) + (rest > 0 ? divided_up(rest, cap) : 0));
  }
  return best;
}

std::vector<PartitionBound> bin_count_bounds(std::span<const Tokens> sizes, Tokens capacity) {
  const Tokens sum = std::accumulate(sizes.begin(), sizes.end(), Tokens{0});
  Tokens stairs = 0;
  for (std::int64_t k = 1; k <= kMostStairs; ++k) {
    stairs = std::max(stairs, staircase(sizes, capacity, k));
  }
  std::vector<PartitionBound> bounds = {{"staircase", stairs},
                                        {"large", least_rows(sizes, capacity)},
                                        {"tokens", divided_up(sum, capacity)}};
  // The greatest bound comes last. Among equal bounds, the one that is easiest to check by hand
  // comes last.
  std::ranges::stable_sort(bounds, {}, &PartitionBound::value);
  return bounds;
}

}  // namespace stowage
