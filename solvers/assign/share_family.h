// Sets of subsets of a few sequences, one bit each, and what two replicas can hold between them.
//
//   ShareFamily both = disjoint_unions(one, other);   // every A + B of an A in one, a B in other
//   if (both.has(all)) ...
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace stowage {

class ShareFamily {
 public:
  // Without a subset. At least six sequences are counted, so that a word is full.
  explicit ShareFamily(std::size_t sequences)
      : words_(std::size_t{1} << (sequences < 6 ? 0 : sequences - 6)) {}

  void insert(std::uint32_t subset) { words_[subset >> 6] |= std::uint64_t{1} << (subset & 63U); }
  bool has(std::uint32_t subset) const { return (words_[subset >> 6] >> (subset & 63U) & 1) != 0; }

  // About how many steps disjoint_unions() takes for so many sequences: all pairs of words that
  // share no sequence, some operations each.
  static std::int64_t steps_of_unions(std::size_t sequences) {
    constexpr std::int64_t kEach = 4;
    std::int64_t pairs = 1;
    for (std::size_t k = 6; k < sequences; ++k) pairs *= 3;
    return kEach * pairs;
  }

  friend ShareFamily disjoint_unions(const ShareFamily& a, const ShareFamily& b);

 private:
  std::vector<std::uint64_t> words_;  // of subsets that agree in all but the first six sequences
};

// Of the same number of sequences. O(3^(n - 6) 2^6) operations on words at most.
ShareFamily disjoint_unions(const ShareFamily& a, const ShareFamily& b);

}  // namespace stowage
