// What the exact search knows while some buffers are placed: where each other buffer could lie at
// the lowest, and how much room every section still has.
//
// Placing a buffer raises its neighbours; every change is written to a trail, so that it can be
// taken back in the order of the changes. Not for use outside the search.
//
//   LayoutState state(table, neighbours, capacity);
//   const std::size_t mark = state.mark();
//   if (!state.place(b)) state.undo(mark);  // some section would overflow
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "instances/layout/neighbours.h"
#include "instances/layout/table.h"
#include "instances/numbers.h"
#include "solvers/layout/state_key.h"

namespace stowage {

class LayoutState {
 public:
  // Requires table.stackable() and pinned buffers that do not clash; both arguments must outlive
  // the state. Pinned buffers are obstacles that are there from the start.
  LayoutState(const LayoutTable& table, const LayoutNeighbours& neighbours, Bytes capacity);

  // False if the capacity is seen to be too small before anything is placed.
  bool possible() const { return possible_; }

  // What is known of a buffer, together for the sake of speed.
  struct Row {
    Bytes support = 0;  // its offset if it is placed, else lowest()
    Bytes bound = 0;
    Bytes size = 0;
    bool placed = false;
  };
  const Row& row(int b) const { return rows_[at(b)]; }
  bool placed(int b) const { return rows_[at(b)].placed; }
  Bytes offset(int b) const { return rows_[at(b)].support; }  // of a placed buffer
  // The lowest offset above all placed neighbours: aligned and clear of pinned buffers.
  Bytes lowest(int b) const { return rows_[at(b)].support; }
  // A lower bound of the final offset of b; more than lowest(b) once b was passed over.
  Bytes bound(int b) const { return rows_[at(b)].bound; }
  Bytes size(int b) const { return rows_[at(b)].size; }
  // Unplaced buffers whose hull spans the border between sections s - 1 and s.
  int crossing(int s) const { return crossing_[at(s)]; }

  // Places b at its lowest offset. False if some buffer or section can no longer stay below the
  // capacity; then the caller must undo.
  bool place(int b);

  // b will lie above its lowest offset, on a buffer that is yet to be placed, at `level` or higher.
  // False if that is impossible.
  bool pass_over(int b, Bytes level);

  // Whether the unplaced buffers of these sections fit above `level`, below which none of them will
  // be placed.
  bool fits_above(SectionRange sections, Bytes level) const;

  // Whether a section that holds nothing at `level` yet must be given something there, because it
  // would overflow otherwise: its next buffer would begin above the level where its own bound is,
  // or at `later` if it could begin at the level. Requires no pinned buffers.
  bool must_cover(int s, Bytes level, Bytes later) const {
    const Bytes latest = capacity_ - remaining_[at(s)];
    return top_[at(s)] <= level && later > latest && !begins_within(s, level, latest);
  }

  // Stands for the unplaced buffers and their lowest offsets (failed_states.h). undo() leaves it to
  // the caller to set it back.
  const StateKey& key() const { return key_; }
  void set_key(const StateKey& key) { key_ = key; }

  // Where the last buffer placed in a section ends.
  Bytes top(int s) const { return top_[at(s)]; }

  // Unplaced buffers in conflict with b.
  bool has_unplaced_neighbour(int b) const;

  // Where buffers and sections ran out of room, so often.
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
    Bytes bound_before = 0;  // with a support
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
  // Whether the sections of all raised buffers still have room for what is unplaced in them.
  bool sections_fit();
  void list_touched();
  bool fits_between(int section, Bytes low, Bytes high);
  void take(int b, int sign);
  void lower_tops(int b);

  const LayoutTable& table_;
  const LayoutNeighbours& neighbours_;
  Bytes capacity_;
  bool possible_ = true;
  bool plain_ = true;  // nothing is pinned or aligned
  std::vector<Row> rows_;
  struct Weights {  // in the key, of a buffer and of its offset
    StateKey buffer;
    StateKey offset;
  };
  std::vector<Weights> weights_;
  StateKey key_;
  // Per section: bytes still to be placed; the end of the last placed buffer; how many unplaced
  // buffers begin and end there; one that may begin above some level, as found last.
  std::vector<Bytes> remaining_;
  std::vector<Bytes> top_;
  std::vector<int> starts_;
  std::vector<int> ends_;
  mutable std::vector<int> later_;
  std::vector<int> crossing_;
  std::vector<std::vector<int>> section_pins_;  // pinned buffers of each; empty without any
  mutable Failures failures_;
  // Scratch of sections_fit().
  struct Raised {
    int buffer = 0;
    Bytes before = 0;  // its bound
  };
  std::vector<Raised> raised_;
  struct Touch {  // of a section: its buffers' bounds were above `low` and are `high` at most
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
  std::vector<Bytes> tops_before_;  // of the placements of the trail, section by section
};

}  // namespace stowage
