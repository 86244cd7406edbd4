// Finds the items that two bins should exchange so that their costs get close to each other.
//
//   SubsetLists a(costs, bin_a, 2), b(costs, bin_b, 2);   // up to two items of each
//   if (const auto best = best_exchange(a, b, difference, allowed)) ...
//
// All subsets of up to three items of a bin are listed by ascending cost, one list per size. If a
// bin has many items, a sample of them is used. Two sorted lists are searched with two pointers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace stowage {

inline constexpr int kMaxExchanged = 3;  // items of one bin

struct ItemSubset {
  std::int64_t cost = 0;
  std::array<std::int32_t, kMaxExchanged> items{};  // the list gives their number
};

// The subsets of one bin.
struct SubsetLists {
  std::array<std::vector<ItemSubset>, kMaxExchanged + 1> by_size;  // entry 0: the empty subset

  // Lists the subsets of up to `depth` of the `items`, which index `costs`. Pairs and triples are
  // limited to about `most` each.
  SubsetLists(std::span<const std::int64_t> costs, std::span<const std::int32_t> items, int depth,
              std::size_t most);
  SubsetLists() = default;

  std::size_t size() const;  // total size of all lists
};

struct BinExchange {
  int given = 0;  // items from the dearer bin
  int taken = 0;  // items from the cheaper bin
  ItemSubset gives;
  ItemSubset takes;
};

// The number of items that the more expensive bin may lose on balance.
struct ChangeRange {
  std::int64_t least = 0;
  std::int64_t most = 0;
};
// Return the exchange that moves a cost as near to difference / 2 as possible, above 0 and below
// `difference`. Afterwards both bins cost less than the more expensive bin did, and more than the
// cheaper bin did. Return nullopt if no such exchange exists. best_swap() exchanges at most one
// item of each bin, and its items index `costs` by descending cost. O(n).
std::optional<BinExchange> best_swap(std::span<const std::int64_t> costs,
                                     std::span<const std::int32_t> dearer,
                                     std::span<const std::int32_t> cheaper, std::int64_t difference,
                                     ChangeRange change);
std::optional<BinExchange> best_exchange(const SubsetLists& dearer, const SubsetLists& cheaper,
                                         std::int64_t difference, ChangeRange change);

}  // namespace stowage
