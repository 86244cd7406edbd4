// Set of small integers with predecessor and successor queries.
//
// The set is a bitmap with summary levels: each bit of a level states whether a word of the level
// below is not empty. Every operation takes O(log_64 n).
//
//   OrderedBitset set(1000);    // all of 0 to 999
//   set.erase(7);
//   set.at_or_below(7);      // 6
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "instances/numeric/numbers.h"

namespace stowage {

class OrderedBitset {
 public:
  static constexpr std::size_t kNone = SIZE_MAX;

  explicit OrderedBitset(std::size_t size) {
    for (std::size_t bits = size;; bits = levels_.back().size()) {
      std::vector<std::uint64_t> words((bits + 63) / 64, ~std::uint64_t{0});
      if (bits % 64 != 0) words.back() = (std::uint64_t{1} << (bits % 64)) - 1;
      levels_.push_back(std::move(words));
      if (levels_.back().size() <= 1) break;
    }
  }

  void insert(std::size_t number) {
    for (auto& words : levels_) {
      words[number / 64] |= std::uint64_t{1} << (number % 64);
      number /= 64;
    }
  }

  void erase(std::size_t number) {
    for (auto& words : levels_) {
      words[number / 64] &= ~(std::uint64_t{1} << (number % 64));
      if (words[number / 64] != 0) return;
      number /= 64;
    }
  }

  // Returns the largest member that is at most `number`, or kNone.
  std::size_t at_or_below(std::size_t number) const {
    for (std::size_t level = 0; level < levels_.size(); ++level) {
      const std::uint64_t below =
          levels_[level][number / 64] & (~std::uint64_t{0} >> (63 - number % 64));
      if (below != 0) {
        std::size_t found = number / 64 * 64 + 63 - at(std::countl_zero(below));
        while (level-- > 0) found = found * 64 + 63 - at(std::countl_zero(levels_[level][found]));
        return found;
      }
      if (number < 64) return kNone;
      number = number / 64 - 1;
    }
    return kNone;
  }

  // Returns the least member that is at least `number`, or kNone.
  std::size_t at_or_above(std::size_t number) const {
    for (std::size_t level = 0; level < levels_.size(); ++level) {
      if (number / 64 >= levels_[level].size()) return kNone;
      const std::uint64_t above =
          levels_[level][number / 64] & (~std::uint64_t{0} << (number % 64));
      if (above != 0) {
        std::size_t found = number / 64 * 64 + at(std::countr_zero(above));
        while (level-- > 0) found = found * 64 + at(std::countr_zero(levels_[level][found]));
        return found;
      }
      number = number / 64 + 1;
    }
    return kNone;
  }

 private:
  // level 0: a bit per number; level k + 1: a bit per word of level k
  std::vector<std::vector<std::uint64_t>> levels_;
};

}  // namespace stowage
