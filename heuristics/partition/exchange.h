// Which items two bins should exchange so that their costs come close to each other.
//
//   SubsetLists a(costs, bin_a, 2), b(costs, bin_b, 2);   // up to two items of each
//   if (const auto best = best_exchange(a, b, difference, allowed)) ...
//
// All subsets of up to three items of a bin stand in lists sorted by cost, one for each size; of
// many items, a sample. Two sorted lists are searched with two pointers.
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
  std::array<std::int32_t, kMaxExchanged> items{};  // as many as the list's size says
};

// The subsets of one bin.
struct SubsetLists {
  std::array<std::vector<ItemSubset>, kMaxExchanged + 1> by_size;  // entry 0: the empty subset

  // `items` index `costs`. Subsets of up to `depth` items; of pairs and triples at most about
  // `most` each.
  SubsetLists(std::span<const std::int64_t> costs, std::span<const std::int32_t> items, int depth,
              std::size_t most);
  SubsetLists() = default;

  std::size_t size() const;  // of all lists
};

struct BinExchange {
  int given = 0;  // items from the dearer bin
  int taken = 0;  // items from the cheaper bin
  ItemSubset gives;
  ItemSubset takes;
};

// The exchange that moves a cost as near to difference / 2 as any, above 0 and below `difference`:
// afterwards both bins cost less than the dearer did and more than the cheaper did. `change` is how
// many items the dearer bin may lose on balance. Nothing if there is none.
struct ChangeRange {
  std::int64_t least = 0;
  std::int64_t most = 0;
};
// Of at most one item of each bin. The items index `costs` and stand by falling cost. O(n).
std::optional<BinExchange> best_swap(std::span<const std::int64_t> costs,
                                     std::span<const std::int32_t> dearer,
                                     std::span<const std::int32_t> cheaper, std::int64_t difference,
                                     ChangeRange change);
std::optional<BinExchange> best_exchange(const SubsetLists& dearer, const SubsetLists& cheaper,
                                         std::int64_t difference, ChangeRange change);

}  // namespace stowage
