// Families of subsets of a few sequences, stored as bit sets, with the operation of disjoint
// unions.
//
//   SubsetPairs both = disjoint_unions(one, other);   // every A + B, A of one and B of other
//   if (both.has(all)) ...
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace stowage {

class SubsetPairs {
 public:
  // Creates an empty family. At least six sequences are counted, so that a word is full.
  explicit SubsetPairs(std::size_t sequences)
      : words_(std::size_t{1} << (sequences < 6 ? 0 : sequences - 6)) {}

  void insert(std::uint32_t subset) { words_[subset >> 6] |= std::uint64_t{1} << (subset & 63U); }
  bool has(std::uint32_t subset) const { return (words_[subset >> 6] >> (subset & 63U) & 1) != 0; }

  // Returns the approximate number of steps of disjoint_unions() for this number of sequences: some
  // operations for each pair of words without common sequences.
  static std::int64_t steps_of_unions(std::size_t sequences) {
    constexpr std::int64_t kEach = 4;
    std::int64_t pairs = 1;
    for (std::size_t k = 6; k < sequences; ++k) pairs *= 3;
    return kEach * pairs;
  }

  friend SubsetPairs disjoint_unions(const SubsetPairs& a, const SubsetPairs& b);

 private:
  // one word for all subsets that agree in all but the first six sequences
  std::vector<std::uint64_t> words_;
};

// Returns all unions of two disjoint subsets, one of each family. Requires families of the same
// number of sequences. O(3^(n - 6) 2^6) word operations at most.
SubsetPairs disjoint_unions(const SubsetPairs& a, const SubsetPairs& b);

}  // namespace stowage
