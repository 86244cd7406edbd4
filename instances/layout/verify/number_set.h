// A set of numbers from 0 to a fixed size that finds the neighbours of any number. It is a tree of
// bits: above every 64 of them one bit says whether any is set. Only the verifier of layouts uses
// it, for the buffers that need memory at a step. Not installed.
//
//   RankSet set(1000);
//   set.insert(17);
//   set.next(3);        // 17: the least member at or above 3
//   set.previous(17);   // RankSet::kNone: the largest member below 17
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace stowage {

class RankSet {
 public:
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  explicit RankSet(std::size_t size) {
    do {
      size = size / 64 + 1;
      levels_.emplace_back(size, 0);
    } while (size > 1);
  }

  void insert(std::size_t member) {
    for (std::vector<std::uint64_t>& level : levels_) {
      level[member / 64] |= std::uint64_t{1} << (member % 64);
      member /= 64;
    }
  }

  void erase(std::size_t member) {
    for (std::vector<std::uint64_t>& level : levels_) {
      std::uint64_t& word = level[member / 64];
      word &= ~(std::uint64_t{1} << (member % 64));
      if (word != 0) return;
      member /= 64;
    }
  }

  bool contains(std::size_t member) const {
    return (levels_[0][member / 64] >> (member % 64) & 1U) != 0;
  }

  // Returns the least member at or above `from`, which must be at most the size.
  std::size_t next(std::size_t from) const {
    for (std::size_t l = 0; l < levels_.size(); ++l) {
      const std::uint64_t rest = levels_[l][from / 64] >> (from % 64);
      if (rest != 0) return descend(l, from + at(std::countr_zero(rest)), true);
      from = from / 64 + 1;
    }
    return kNone;
  }

  // Returns the largest member below `before`, which must be at most the size.
  std::size_t previous(std::size_t before) const {
    for (std::size_t l = 0; l < levels_.size(); ++l) {
      const std::uint64_t rest =
          levels_[l][before / 64] & ((std::uint64_t{1} << (before % 64)) - 1);
      if (rest != 0) return descend(l, before / 64 * 64 + at(63 - std::countl_zero(rest)), false);
      before /= 64;
    }
    return kNone;
  }

 private:
  static std::size_t at(int bit) { return static_cast<std::size_t>(bit); }

  // Goes down from a set bit of a level to the first or last member below it.
  std::size_t descend(std::size_t level, std::size_t bit, bool first) const {
    while (level-- > 0) {
      const std::uint64_t word = levels_[level][bit];
      bit = 64 * bit + at(first ? std::countr_zero(word) : 63 - std::countl_zero(word));
    }
    return bit;
  }

  std::vector<std::vector<std::uint64_t>> levels_;  // the members first
};

}  // namespace stowage
