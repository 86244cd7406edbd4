#include "instances/partition/bound_check.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>

namespace stowage {
namespace {

// Returns the pigeonhole bound for k bins. Among the j k + 1 dearest items some j + 1 share a bin,
// and cost at least the cheapest j + 1 of them. The other items that the bin must hold cost at
// least the cheapest of all.
std::int64_t pigeonhole(std::vector<std::int64_t> costs, std::size_t bins, std::size_t least) {
  std::sort(costs.begin(), costs.end(), std::greater<>());
  std::vector<std::int64_t> cheapest = {0};  // entry i: sum of the i cheapest
  for (auto it = costs.rbegin(); it != costs.rend(); ++it) {
    cheapest.push_back(cheapest.back() + *it);
  }
  const std::size_t n = costs.size();
  std::int64_t best = 0;
  for (std::size_t j = 0; j * bins < n; ++j) {
    const std::size_t behind = n - (j * bins + 1);  // items cheaper than the j k + 1 dearest
    const std::int64_t shared = cheapest[behind + j + 1] - cheapest[behind];
    const std::int64_t others = least > j + 1 ? cheapest[least - j - 1] : 0;
    best = std::max(best, shared + others);
  }
  return best;
}

std::int64_t full_bins(std::int64_t sum, std::int64_t capacity) {
  return sum / capacity + (sum % capacity == 0 ? 0 : 1);
}

// Returns the bound of large items. For a threshold t of at most half the capacity, items above
// capacity - t share no bin with an item of t or more, and no two items above half share a bin. The
// items from t to half the capacity go into the rooms that the latter leave, or into more bins.
std::int64_t large_items(std::vector<Tokens> sizes, Tokens capacity) {
  std::sort(sizes.begin(), sizes.end());
  std::vector<std::int64_t> sums = {0};  // entry i: sum of the i smallest
  for (const Tokens size : sizes) sums.push_back(sums.back() + size);
  // Returns the number of items of at most `size`.
  const auto up_to = [&](Tokens size) {
    return static_cast<std::size_t>(std::upper_bound(sizes.begin(), sizes.end(), size) -
                                    sizes.begin());
  };
  const std::size_t half = up_to(capacity / 2);
  const auto above_half = static_cast<std::int64_t>(sizes.size() - half);
  std::int64_t best = above_half;
  for (std::size_t first = 0; first < half; ++first) {
    const std::size_t shared = up_to(capacity - sizes[first]);
    const auto sharing = static_cast<std::int64_t>(shared - half);
    const std::int64_t room = sharing * capacity - (sums[shared] - sums[half]);
    const std::int64_t rest = sums[half] - sums[first] - room;
    if (rest > 0) best = std::max(best, above_half + full_bins(rest, capacity));
  }
  return best;
}

// Returns the bound of a dual feasible function of k stairs, u_k of Fekete and Schepers (2001), the
// best k up to 20. A size counts its share of the capacity if k + 1 of it fill whole bins, else the
// number of whole bins that k + 1 of it fill, divided by k.
std::int64_t stairs(const std::vector<Tokens>& sizes, Tokens capacity) {
  std::int64_t best = 0;
  for (std::int64_t k = 1; k <= 20; ++k) {
    // Sums of numerators: of shares over `capacity`, and of whole bins over k.
    std::int64_t shares = 0;
    std::int64_t counted = 0;
    for (const Tokens size : sizes) {
      const bool exact = (k + 1) * size % capacity == 0;
      (exact ? shares : counted) += exact ? size : (k + 1) * size / capacity;
    }
    // shares / capacity + counted / k, rounded up.
    const std::int64_t bins = shares / capacity + counted / k;
    const std::int64_t over = (shares % capacity) * k + (counted % k) * capacity;
    best = std::max(best, bins + full_bins(over, capacity * k));
  }
  return best;
}

}  // namespace

std::optional<std::int64_t> checked_bin_bound(std::string_view name,
                                              std::vector<std::int64_t> costs, std::int64_t bins,
                                              std::int64_t fewest) {
  if (name == "average") {
    std::int64_t sum = 0;
    for (const std::int64_t each : costs) sum += each;
    return full_bins(sum, bins);
  }
  if (name == "pigeonhole") {
    return pigeonhole(std::move(costs), static_cast<std::size_t>(bins),
                      static_cast<std::size_t>(fewest));
  }
  return std::nullopt;
}

std::optional<std::int64_t> checked_bin_count(std::string_view name, std::vector<Tokens> sizes,
                                              Tokens capacity) {
  if (name == "tokens") {
    std::int64_t sum = 0;
    for (const Tokens size : sizes) sum += size;
    return full_bins(sum, capacity);
  }
  if (name == "staircase") return stairs(sizes, capacity);
  if (name == "large") return large_items(std::move(sizes), capacity);
  return std::nullopt;
}

}  // namespace stowage
