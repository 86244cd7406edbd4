// Lowers the peak of a layout by taking buffers out of the stack and putting them back.
//
// A layout is represented as a stacking order: each buffer lies on top of all earlier buffers that
// it conflicts with. The peak is the longest path through the conflict graph, with each edge
// directed from the earlier to the later buffer. A round takes out a buffer of a longest path and
// up to 19 more buffers that conflict with it: arbitrary ones, those with the most similar
// lifetimes, or those nearest in the order. The longest paths below and above the remaining buffers
// give, for each position, the length of the path through an inserted buffer. Each buffer goes back
// at the position of least length, large areas first, and the paths above and below are updated.
// The search never fixes offsets, so all other buffers move up or down as needed. Rounds that make
// the longest path slightly longer are accepted, with a threshold that falls to zero.
//
// A pinned buffer is a path from the bottom to its offset, and a path from its end to the target.
// It lies at its pin if no path is longer than the target.
//
// Source: ruin and recreate (Schrimpf et al. 2000) with positions of least longest path, as in job
// shops (Mastrolilli and Gambardella 2000); threshold accepting (Dueck and Scheuer 1990);
// disjunctive graphs (Roy and Sussmann 1964).
//
//   Reinsertion reinsertion(table, seed);
//   offsets = reinsertion.lower(std::move(offsets), target, 10'000'000, budget);
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "heuristics/layout/index/section_heights.h"
#include "heuristics/layout/params.h"
#include "instances/budget.h"
#include "instances/layout/planning_table.h"
#include "instances/numeric/random.h"

namespace stowage {

class Reinsertion {
 public:
  // `table` must outlive this object. Requires table.stackable() and pins that do not clash.
  Reinsertion(const LayoutTable& table, std::uint64_t seed, const ReinsertionParams& params = {});

  // Returns the offsets of all buffers. Buffers with the offset -1 are inserted into the stack of
  // the others, large areas first. Returns nullopt if the budget ends first. Requires a table
  // without pins.
  std::optional<std::vector<Bytes>> complete(const std::vector<Bytes>& known, Bytes target,
                                             Budget& budget);

  // Returns the best layout found, never worse than `offsets`. Stops at the target, after `visits`
  // visits of buffers, or when the budget ends. Each insertion counts as a node.
  std::vector<Bytes> lower(std::vector<Bytes> offsets, Bytes target, std::int64_t visits,
                           Budget& budget);

 private:
  // Buffers in stacking order, with the values that a scan reads stored in parallel arrays.
  struct Stack {
    std::vector<int> buffer;
    std::vector<SectionRange> hull;
    std::vector<Bytes> end;   // longest path from the bottom, including the buffer
    std::vector<Bytes> rise;  // longest path to the top, including the buffer

    std::size_t size() const { return buffer.size(); }
    void resize(std::size_t size);
  };

  void start(const std::vector<Bytes>& offsets);
  void choose();
  void sort_taken();
  void take_out();
  Bytes measure();
  void sort_stack(bool by_rise);
  bool put_back(int b, Bytes limit);
  void insert(std::size_t position, int b, Bytes end, Bytes rise);
  void raise_above(std::size_t position);
  void raise_below(std::size_t position);
  std::vector<Bytes> offsets() const;

  bool meets(const Stack& stack, std::size_t i, int b, SectionRange hull) const {
    const SectionRange other = stack.hull[i];
    if (hull.first >= other.last || other.first >= hull.last) return false;
    return !table_.any_gaps() || table_.conflict(stack.buffer[i], b);
  }
  Bytes size(int b) const { return size_[static_cast<std::size_t>(b)]; }
  Bytes take_heights(int b, SectionRange hull);
  void put_heights(int b, SectionRange hull, Bytes height);
  // Returns the end of the buffer on top of buffers that reach `height`.
  Bytes end_on(int b, Bytes height) const {
    return plain_ ? height + size(b) : end_on_any(b, height);
  }
  // Returns the longest path from the bottom of the buffer to the top, if the longest path above
  // the buffer is `height`.
  Bytes rise_below(int b, Bytes height) const {
    return plain_ ? height + size(b) : rise_below_any(b, height);
  }
  Bytes end_on_any(int b, Bytes height) const;
  Bytes rise_below_any(int b, Bytes height) const;

  const LayoutTable& table_;
  const ReinsertionParams params_;
  const bool plain_;         // no pins, and every offset is a sum of sizes
  std::vector<Bytes> size_;  // by buffer
  QuickRandom random_;
  SectionHeights heights_;
  Bytes target_ = 0;
  Stack stack_;    // stack of the round in progress
  Stack current_;  // stack of the last accepted round
  Bytes longest_ = 0;
  std::vector<int> taken_;
  std::vector<int> pool_;     // positions of the buffers that may be taken out
  std::vector<Bytes> below_;  // longest path below each position of the buffer being inserted
  std::vector<Bytes> score_;  // sort key of each buffer
  std::vector<char> is_out_;  // by buffer
  std::int64_t visits_ = 0;   // total visits of buffers by this object
};

}  // namespace stowage
