#include "solvers/assign/exact/subset_pairs.h"

#include <array>
#include <bit>
#include <utility>

namespace stowage {
namespace {

// Masks of the subsets disjoint to each subset of six sequences.
constexpr std::array<std::uint64_t, 64> kDisjoint = [] {
  std::array<std::uint64_t, 64> masks{};
  for (unsigned set = 0; set < 64; ++set) {
    for (unsigned other = 0; other < 64; ++other) {
      if ((set & other) == 0) masks[set] |= std::uint64_t{1} << other;
    }
  }
  return masks;
}();

// Returns the disjoint unions within one word. The index of A + B is the sum of the two indices.
std::uint64_t unions(std::uint64_t a, std::uint64_t b) {
  if (std::popcount(a) > std::popcount(b)) std::swap(a, b);
  std::uint64_t made = 0;
  for (; a != 0; a &= a - 1) {
    const int set = std::countr_zero(a);
    made |= (b & kDisjoint[static_cast<std::size_t>(set)]) << set;
  }
  return made;
}

}  // namespace

SubsetPairs disjoint_unions(const SubsetPairs& a, const SubsetPairs& b) {
  SubsetPairs made = a;
  for (std::size_t set = 0; set < a.words_.size(); ++set) {
    std::uint64_t word = 0;
    for (std::size_t part = set;; part = (part - 1) & set) {
      if (a.words_[part] != 0 && b.words_[set ^ part] != 0) {
        word |= unions(a.words_[part], b.words_[set ^ part]);
      }
      if (part == 0 || word == ~std::uint64_t{0}) break;
    }
    made.words_[set] = word;
  }
  return made;
}

}  // namespace stowage
