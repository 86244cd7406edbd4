// How high something reaches over each section, in pieces of equal height.
//
// Setting a height over a range costs as much as the pieces that it covers, which are gone
// afterwards, and finding the first of them O(sections / 64) at worst.
//
//   SectionHeights heights(table.sections());
//   const Bytes offset = heights.highest(range);
//   heights.set(range, offset + size);
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "instances/layout/table.h"

namespace stowage {

class SectionHeights {
 public:
  // All at height 0.
  explicit SectionHeights(int sections);

  void clear();  // to height 0 again, O(sections / 64)

  // Requires a range that is not empty, as does set().
  Bytes highest(SectionRange range) const {
    Bytes most = 0;
    for (int s = piece_of(range.first); s < range.last; s = piece(s).last) {
      most = std::max(most, piece(s).height);
    }
    return most;
  }

  void set(SectionRange range, Bytes height) {
    int s = piece_of(range.first);
    if (s < range.first) {
      const Piece its = piece(s);
      piece(s).last = range.first;
      begin(range.first, its);
      s = range.first;
    }
    while (s < range.last) {
      const Piece its = piece(s);
      if (its.height != 0) raised_ -= std::min(its.last, range.last) - s;
      begins_[word(s)] &= ~bit(s);
      if (its.last > range.last) begin(range.last, its);
      s = its.last;
    }
    begin(range.first, {.height = height, .last = range.last});
    if (height != 0) raised_ += range.last - range.first;
  }

  int raised() const { return raised_; }  // sections whose height is not 0

 private:
  struct Piece {
    Bytes height = 0;
    int last = 0;  // the section behind its last one
  };
  // The first section of the piece that has this one.
  int piece_of(int section) const {
    std::size_t w = word(section);
    std::uint64_t bits = begins_[w] & (~std::uint64_t{0} >> (63 - section % 64));
    while (bits == 0) bits = begins_[--w];
    return static_cast<int>(w * 64) + 63 - std::countl_zero(bits);
  }
  void begin(int section, Piece its) {
    piece(section) = its;
    begins_[word(section)] |= bit(section);
  }
  Piece& piece(int first) { return pieces_[static_cast<std::size_t>(first)]; }
  const Piece& piece(int first) const { return pieces_[static_cast<std::size_t>(first)]; }
  static std::size_t word(int section) { return static_cast<std::size_t>(section) / 64; }
  static std::uint64_t bit(int section) { return std::uint64_t{1} << (section % 64); }

  const int sections_;
  std::vector<std::uint64_t> begins_;  // a bit for each section at which a piece begins
  std::vector<Piece> pieces_;          // by their first section
  int raised_ = 0;
};

}  // namespace stowage
