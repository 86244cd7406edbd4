// Height profile over the sections, stored as pieces of equal height.
//
// Taking a range costs time proportional to the pieces that it covers, which become one piece.
// Finding the first piece takes O(sections / 64) at worst.
//
//   SectionHeights heights(table.sections());
//   const Bytes offset = heights.take(range);
//   heights.put(range, offset + size);
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "instances/layout/planning_table.h"

namespace stowage {

class SectionHeights {
 public:
  // All sections begin at height 0.
  explicit SectionHeights(int sections);

  void clear();  // sets all heights to 0; O(sections / 64)

  // Returns the largest height of a range that is not empty, and sets the range to height 0.
  Bytes take(SectionRange range) {
    int s = piece_of(range.first);
    Piece its = piece(s);
    if (its.last >= range.last && its.height == 0) return 0;
    if (s < range.first) {
      piece(s).last = range.first;
      begin(range.first, its);
    }
    Bytes most = 0;
    for (s = range.first;;) {
      most = std::max(most, its.height);
      if (its.height != 0) raised_ -= std::min(its.last, range.last) - s;
      if (its.last >= range.last) break;
      s = its.last;
      its = piece(s);
      begins_[word(s)] &= ~bit(s);
    }
    if (its.last > range.last) begin(range.last, its);
    piece(range.first) = {.height = 0, .last = range.last};
    return most;
  }

  // Sets the height of a range. Requires that the range is at 0 and inside one piece, as after
  // take() or clear().
  void put(SectionRange range, Bytes height) {
    if (height == 0) return;
    raised_ += range.last - range.first;
    if (begins(range.first) && piece(range.first).last == range.last) {
      piece(range.first).height = height;
      return;
    }
    const int s = piece_of(range.first);
    const Piece its = piece(s);
    if (s < range.first) piece(s).last = range.first;
    begin(range.first, {.height = height, .last = range.last});
    if (its.last > range.last) begin(range.last, its);
  }

  int raised() const { return raised_; }  // number of sections whose height is not 0

 private:
  struct Piece {
    Bytes height = 0;
    int last = 0;  // end of the piece, exclusive
  };
  // Returns the first section of the piece that contains `section`.
  int piece_of(int section) const {
    std::size_t w = word(section);
    std::uint64_t bits = begins_[w] & (~std::uint64_t{0} >> (63 - section % 64));
    while (bits == 0) bits = begins_[--w];
    return static_cast<int>(w * 64) + 63 - std::countl_zero(bits);
  }
  bool begins(int section) const { return (begins_[word(section)] & bit(section)) != 0; }
  void begin(int section, Piece its) {
    piece(section) = its;
    begins_[word(section)] |= bit(section);
  }
  Piece& piece(int first) { return pieces_[static_cast<std::size_t>(first)]; }
  const Piece& piece(int first) const { return pieces_[static_cast<std::size_t>(first)]; }
  static std::size_t word(int section) { return static_cast<std::size_t>(section) / 64; }
  static std::uint64_t bit(int section) { return std::uint64_t{1} << (section % 64); }

  const int sections_;
  std::vector<std::uint64_t> begins_;  // bit s is set if a piece begins at section s
  std::vector<Piece> pieces_;          // pieces by their first section
  int raised_ = 0;
};

}  // namespace stowage
