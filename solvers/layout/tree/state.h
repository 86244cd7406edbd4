// State of the exact search while some buffers are placed: the lowest offset of each other buffer,
// and the room left in every section.
//
// Placing a buffer raises its neighbours. A trail records every change, so that changes are undone
// in reverse order. The file is private to the search.
//
//   LayoutState state(table, neighbours, capacity);
//   const std::size_t mark = state.mark();
//   if (!state.place(b)) state.undo(mark);  // some section would overflow
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "instances/layout/neighbours.h"
#include "instances/layout/planning_table.h"
#include "instances/numeric/numbers.h"
#include "solvers/layout/tree/state_key.h"

namespace stowage {

class LayoutState {
 public:
  // Requires table.stackable() and pinned buffers that do not clash. Both arguments must outlive
  // this object. Pinned buffers are obstacles from the start.
  LayoutState(const LayoutTable& table, const LayoutNeighbours& neighbours, Bytes capacity);

  // Returns false if the capacity is too small even before any placement.
  bool possible() const { return possible_; }

  // The values of one buffer, stored together for speed.
  struct Row {
    Bytes support = 0;  // offset of a placed buffer, otherwise lowest()
    Bytes bound = 0;
    Bytes size = 0;
    bool placed = false;
  };
  const Row& row(int b) const { return rows_[at(b)]; }
  bool placed(int b) const { return rows_[at(b)].placed; }
  Bytes offset(int b) const { return rows_[at(b)].support; }  // requires a placed buffer
  // Returns the lowest offset above all placed neighbours, aligned and clear of pinned buffers.
  Bytes lowest(int b) const { return rows_[at(b)].support; }
  // Returns a lower bound on the final offset of b. It exceeds lowest(b) after b was passed over.
  Bytes bound(int b) const { return rows_[at(b)].bound; }
  Bytes size(int b) const { return rows_[at(b)].size; }
  // Returns the number of unplaced buffers whose hull spans the border between sections s - 1 and
  // s.
  int crossing(int s) const { return crossing_[at(s)]; }

  // Places b at its lowest offset. Returns false if some buffer or section no longer fits below the
  // capacity; the caller must then undo the placement.
  bool place(int b);

  // Decides that b will lie above its lowest offset, on a buffer that is yet to be placed at
  // `level` or higher. Returns false if that is impossible.
  bool pass_over(int b, Bytes level);

  // Returns true if the unplaced buffers of these sections fit above `level`. Requires that none of
  // them will be placed below `level`.
  bool fits_above(SectionRange sections, Bytes level) const;

  // Returns true if section s, which has no buffer at `level` yet, must be covered at this level
  // because it would overflow otherwise. If it is not covered, its next buffer begins at its own
  // bound, if that is above the level, and otherwise at `later` at the earliest. Requires no pinned
  // buffers.
  bool must_cover(int s, Bytes level, Bytes later) const {
    const Bytes latest = capacity_ - remaining_[at(s)];
    return top_[at(s)] <= level && later > latest && !begins_within(s, level, latest);
  }

  // Returns the key of the unplaced buffers and their lowest offsets (failed_states.h). undo() does
  // not restore the key; the caller sets it.
  const StateKey& key() const { return key_; }
  void set_key(const StateKey& key) { key_ = key; }

  // Returns the end of the last buffer placed in section s.
  Bytes top(int s) const { return top_[at(s)]; }

  // Returns true if an unplaced buffer conflicts with b.
  bool has_unplaced_neighbour(int b) const;

  // Counts of how often each buffer and each section ran out of room.
  struct Failures {
    std::vector<int> buffers;
    std::vector<int> sections;
  };
  const Failures& failures() const { return failures_; }
  void blame(int section) const { ++failures_.sections[at(section)]; }

  std::size_t mark() const { return trail_.size(); }
  void undo(std::size_t mark);

 private:
  enum class Kind : std::uint8_t { placement, support, bound };
  struct Change {
    Bytes before = 0;
    Bytes bound_before = 0;  // only for changes of a support
    int index = 0;
    Kind kind = Kind::placement;
  };
  Bytes pinned_above(int section, Bytes level) const;
  bool begins_within(int section, Bytes level, Bytes latest) const;
  Bytes lowest_above(int b, Bytes level) const {
    return plain_ ? level : table_.clear_of_pins(b, level);
  }
  void count_in_key(int b, int sign);
  void raise_in_key(int b, Bytes by);
  bool raise_bound(int b, Bytes value);
  bool below_capacity(int b);
  // Returns true if the sections of all raised buffers still have room for their unplaced buffers.
  bool sections_fit();
  void list_touched();
  bool fits_between(int section, Bytes low, Bytes high);
  void take(int b, int sign);
  void lower_tops(int b);

  const LayoutTable& table_;
  const LayoutNeighbours& neighbours_;
  Bytes capacity_;
  bool possible_ = true;
  bool plain_ = true;  // no buffer is pinned or aligned
  std::vector<Row> rows_;
  struct Weights {  // random factors of a buffer and of its offset in the key
    StateKey buffer;
    StateKey offset;
  };
  std::vector<Weights> weights_;
  StateKey key_;
  // Values per section, in this order: bytes still to be placed, the end of the last placed buffer,
  // the unplaced buffers that begin there, those that end there, and the last buffer found by
  // begins_within().
  std::vector<Bytes> remaining_;
  std::vector<Bytes> top_;
  std::vector<int> starts_;
  std::vector<int> ends_;
  mutable std::vector<int> later_;
  std::vector<int> crossing_;
  // pinned buffers of each section; empty without pins
  std::vector<std::vector<int>> section_pins_;
  mutable Failures failures_;
  // The members below are scratch memory of sections_fit().
  struct Raised {
    int buffer = 0;
    Bytes before = 0;  // its bound before
  };
  std::vector<Raised> raised_;
  // a section whose raised buffers had bounds above `low` and now have bounds up to `high`
  struct Touch {
    std::int64_t visit = 0;
    Bytes low = 0;
    Bytes high = 0;
  };
  std::vector<Touch> touches_;
  std::vector<int> touched_;
  std::int64_t visit_ = 0;
  struct Level {
    Bytes bound = 0;
    Bytes size = 0;
  };
  std::vector<Level> levels_;
  std::vector<Change> trail_;
  std::vector<Bytes> tops_before_;  // tops before the placements of the trail, section by section
};

}  // namespace stowage
