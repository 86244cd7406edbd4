// Lowering the peak of a layout by taking buffers out of the stack and putting them in again.
//
// A layout is seen as an order of stacking: each buffer lies on top of all buffers before it that
// it conflicts with, and the peak is the longest path through the conflicts, each directed from the
// earlier to the later buffer. A round takes a buffer of a longest path out, with up to 19 more
// that conflict with it: any, those with the most alike lifetimes, or those that lie nearest. The
// longest paths below and above what is left tell for each position of a buffer how long the path
// through it would be; each goes back where that is least, large areas first, and raises what lies
// above and below. Nothing is decided by offsets, so all others move up and down as they must.
// Rounds that make the longest path a little longer are accepted, less and less so.
// A pinned buffer is a path from the bottom to its offset, and one from its end to the target: it
// is where it belongs if no path is longer than the target.
// Source: ruin and recreate (Schrimpf et al. 2000) with positions of least longest path, as in job
// shops (Mastrolilli and Gambardella 2000); threshold accepting (Dueck and Scheuer 1990); the view
// of disjunctive graphs is that of Roy and Sussmann (1964).
//
//   Reinsertion reinsertion(table, seed);
//   offsets = reinsertion.lower(std::move(offsets), target, 10'000'000, budget);
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "heuristics/layout/params.h"
#include "heuristics/layout/section_heights.h"
#include "instances/budget.h"
#include "instances/layout/table.h"
#include "instances/random.h"

namespace stowage {

class Reinsertion {
 public:
  // `table` must outlive this. Requires table.stackable() and pins that do not clash.
  Reinsertion(const LayoutTable& table, std::uint64_t seed, const ReinsertionParams& params = {});

  // All buffers, those whose offset is -1 put into the stack of the others, large areas first.
  // Nothing if the budget ends first. Requires a table without pins.
  std::optional<std::vector<Bytes>> complete(const std::vector<Bytes>& known, Bytes target,
                                             Budget& budget);

  // The best layout met, never worse than `offsets`. Ends at the target, after so many visits of
  // buffers, or with the budget. Each buffer that is put back counts as a node.
  std::vector<Bytes> lower(std::vector<Bytes> offsets, Bytes target, std::int64_t visits,
                           Budget& budget);

 private:
  // Buffers in an order of stacking, what they are looked at for beside each other.
  struct Stack {
    std::vector<int> buffer;
    std::vector<SectionRange> hull;
    std::vector<Bytes> end;   // longest path from the bottom, with the buffer
    std::vector<Bytes> rise;  // longest path to the top, with the buffer

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
  // Where the buffer ends on top of what reaches so high.
  Bytes end_on(int b, Bytes height) const {
    return plain_ ? height + size(b) : end_on_any(b, height);
  }
  // The longest path from the bottom of the buffer to the top, if that above it has this length.
  Bytes rise_below(int b, Bytes height) const {
    return plain_ ? height + size(b) : rise_below_any(b, height);
  }
  Bytes end_on_any(int b, Bytes height) const;
  Bytes rise_below_any(int b, Bytes height) const;

  const LayoutTable& table_;
  const ReinsertionParams params_;
  const bool plain_;         // offsets are sums of sizes
  std::vector<Bytes> size_;  // by buffer
  QuickRandom random_;
  SectionHeights heights_;
  Bytes target_ = 0;
  Stack stack_;    // being made
  Stack current_;  // the last one that was accepted
  Bytes longest_ = 0;
  std::vector<int> taken_;
  std::vector<int> pool_;     // positions of buffers that may be taken
  std::vector<Bytes> below_;  // by position of the buffer that is put back
  std::vector<Bytes> score_;  // by buffer
  std::vector<char> is_out_;  // by buffer
  std::int64_t visits_ = 0;   // of buffers, so far
};

}  // namespace stowage
