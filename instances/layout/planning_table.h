// The lookup table of layout planners: the buffers that need memory together.
//
// Time is folded into sections: the maximal sets of buffers that need memory at the same step, in
// order of time. Sets that another set contains are dropped, so there are at most as many sections
// as lifetimes. Two buffers conflict exactly if they share a section. A buffer without gaps covers
// one range of consecutive sections. A buffer of size 0, or with gaps all over its lifetime, covers
// none and is idle. Building takes O(n log n); pairs are listed only on demand (neighbours.h).
//
//   const LayoutTable table(instance);
//   table.conflict(0, 1);  // whether they need memory at one step
//   table.max_load();      // no layout has a smaller peak
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "instances/layout/instance.h"

namespace stowage {

// Sections [first, last).
struct SectionRange {
  int first = 0;
  int last = 0;

  bool operator==(const SectionRange&) const = default;
};

class LayoutTable {
 public:
  // Requires at most 2^30 buffers.
  explicit LayoutTable(const LayoutInstance& instance);

  int buffers() const { return static_cast<int>(rows_.size()); }
  int sections() const { return static_cast<int>(loads_.size()); }

  Bytes size(int b) const { return row(b).size; }
  Bytes alignment(int b) const { return row(b).alignment; }  // with the instance's alignment
  bool pinned(int b) const { return row(b).pin >= 0; }
  Bytes pin(int b) const { return row(b).pin; }  // offset; -1 if not pinned
  bool any_pins() const { return !pins_.empty(); }
  bool any_gaps() const { return any_gaps_; }
  std::int64_t steps(int b) const { return row(b).steps; }  // at which its bytes are needed
  std::int64_t lower(int b) const { return row(b).lower; }
  std::int64_t upper(int b) const { return row(b).upper; }

  // Returns the ranges of sections, ascending and not touching.
  std::span<const SectionRange> ranges(int b) const {
    const Row& r = row(b);
    return std::span(ranges_).subspan(r.ranges, r.range_count);
  }
  bool idle(int b) const { return row(b).range_count == 0; }
  // Returns the range from the first to the last section, gaps included.
  SectionRange hull(int b) const { return row(b).hull; }

  bool conflict(int a, int b) const;

  // Returns the least multiple of the alignment of b at or above `offset`.
  Bytes aligned(int b, Bytes offset) const {
    const Bytes alignment = row(b).alignment;
    if (alignment == 1) return offset;
    const Bytes over = offset % alignment;
    return over == 0 ? offset : offset + (alignment - over);
  }

  // Returns the least aligned offset at or above `offset` at which b meets no pinned buffer.
  // O(pins).
  Bytes clear_of_pins(int b, Bytes offset) const;

  // The bytes needed at once in a section.
  Bytes load(int section) const { return loads_[static_cast<std::size_t>(section)]; }
  // The largest load, size, or end of a pinned buffer, rounded up to the unit. It is a lower bound
  // of the peak.
  Bytes max_load() const { return max_load_; }
  // The gcd of sizes, of alignments other than 1, and of the ends of pinned buffers. In some
  // optimal layout all buffers end at multiples of it.
  Bytes unit() const { return unit_; }

  // Returns the largest offset + size. Requires one offset per buffer.
  Bytes peak(std::span<const Bytes> offsets) const {
    Bytes peak = 0;
    for (std::size_t b = 0; b < offsets.size(); ++b) {
      peak = std::max(peak, offsets[b] + rows_[b].size);
    }
    return peak;
  }

  // Ranges of sections that no buffer connects (not even over gaps), ascending: independent
  // problems.
  const std::vector<SectionRange>& components() const { return components_; }

  // Returns the buffer before b among those with the same size, alignment and sections, or -1. Such
  // twins can be exchanged in every layout. Pinned and idle buffers have no twins.
  int twin_before(int b) const { return row(b).twin; }

  // Two pinned buffers that overlap, if there are any: then no layout exists.
  std::optional<std::pair<int, int>> clash() const { return clash_; }

  // An upper limit of the end of a stack of all buffers above the pinned ones. Unless pinned
  // buffers clash, some layout has a peak no larger.
  Bytes stack() const { return stack_; }
  // Returns whether the stack ends within kMaxExact. Planners require it: then no offset can
  // overflow.
  bool stackable() const { return stackable_; }

 private:
  struct Row {
    Bytes size = 0;
    Bytes alignment = 1;
    Bytes pin = -1;
    std::int64_t lower = 0;
    std::int64_t upper = 0;
    std::int64_t steps = 0;
    std::size_t ranges = 0;
    std::size_t range_count = 0;
    SectionRange hull;
    int twin = -1;
  };
  const Row& row(int b) const { return rows_[static_cast<std::size_t>(b)]; }

  void fold_time(const LayoutInstance& instance);
  void add_loads();
  void find_twins();
  void find_clash();
  void find_components();

  std::vector<Row> rows_;
  std::vector<SectionRange> ranges_;
  std::vector<Bytes> loads_;
  std::vector<SectionRange> components_;
  std::optional<std::pair<int, int>> clash_;
  Bytes max_load_ = 0;
  Bytes unit_ = 1;
  std::vector<int> pins_;          // by offset
  std::vector<Bytes> pins_below_;  // the largest end among the pinned buffers up to each of them
  bool any_gaps_ = false;
  Bytes stack_ = 0;
  bool stackable_ = true;
};

}  // namespace stowage
