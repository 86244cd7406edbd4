#include "solvers/layout/state.h"

#include <algorithm>
#include <limits>

namespace stowage {

LayoutState::LayoutState(const LayoutTable& table, const LayoutNeighbours& neighbours,
                         Bytes capacity)
    : table_(table), neighbours_(neighbours), capacity_(capacity) {
  const auto n = at(table.buffers());
  const auto sections = at(table.sections());
  rows_.resize(n);
  failures_.buffers.assign(n, 0);
  failures_.sections.assign(sections, 0);
  remaining_.assign(sections, 0);
  top_.assign(sections, 0);
  witness_.assign(sections, -1);
  later_.assign(sections, -1);
  plain_ = !table.any_pins();
  crossing_.assign(sections + 1, 0);
  if (table.any_pins()) section_pins_.resize(sections);
  for (int b = 0; b < table.buffers(); ++b) {
    rows_[at(b)].size = table.size(b);
    plain_ = plain_ && table.alignment(b) == 1;
  }
  for (int b = 0; b < table.buffers(); ++b) {
    if (table.pinned(b)) {
      rows_[at(b)].placed = true;
      rows_[at(b)].support = table.pin(b);
      possible_ = possible_ && table.pin(b) + table.size(b) <= capacity;
      for (const SectionRange& range : table.ranges(b)) {
        for (int s = range.first; s < range.last; ++s) section_pins_[at(s)].push_back(b);
      }
      continue;
    }
    if (table.idle(b)) {
      rows_[at(b)].placed = true;  // at 0
      possible_ = possible_ && table.size(b) <= capacity;
      continue;
    }
    if (table.any_pins()) {
      rows_[at(b)].support = table.clear_of_pins(b, 0);
    }
    possible_ = possible_ && rows_[at(b)].support + table.size(b) <= capacity;
    take(b, 1);
  }
  for (Row& row : rows_) row.bound = row.support;
  for (int s = 0; s < table.sections(); ++s) {
    if (!find_witness(s)) possible_ = false;
  }
  trail_.clear();
}

void LayoutState::take(int b, int sign) {
  for (const SectionRange& range : table_.ranges(b)) {
    for (int s = range.first; s < range.last; ++s) remaining_[at(s)] += sign * rows_[at(b)].size;
  }
  const SectionRange hull = table_.hull(b);
  for (int s = hull.first + 1; s < hull.last; ++s) crossing_[at(s)] += sign;
}

Bytes LayoutState::pinned_above(int section, Bytes level) const {
  Bytes sum = 0;
  for (const int pin : section_pins_[at(section)]) {
    sum += std::max<Bytes>(
        0, table_.pin(pin) + rows_[at(pin)].size - std::max(table_.pin(pin), level));
  }
  return sum;
}

bool LayoutState::place(int b) {
  rows_[at(b)].placed = true;
  take(b, -1);
  const Change placement{.index = b, .kind = Kind::placement};
  trail_.push_back(placement);
  const Bytes top = rows_[at(b)].support + rows_[at(b)].size;
  for (const SectionRange& range : table_.ranges(b)) {
    for (int s = range.first; s < range.last; ++s) {
      const Bytes before = top_[at(s)];
      tops_before_.push_back(before);
      top_[at(s)] = top;
    }
  }
  raised_.clear();
  raised_.push_back(b);
  for (const int other : neighbours_.of(b)) {
    Row& row = rows_[at(other)];
    if (row.placed || row.support >= top) continue;
    const Change raise{
        .before = row.support, .bound_before = row.bound, .index = other, .kind = Kind::support};
    trail_.push_back(raise);
    row.support = lowest_above(other, top);
    if (row.support <= row.bound) continue;
    row.bound = row.support;
    raised_.push_back(other);
    if (!fits(other)) return false;
  }
  return refresh_witnesses();
}

bool LayoutState::fits(int b) {
  if (rows_[at(b)].bound + rows_[at(b)].size <= capacity_) return true;
  ++failures_.buffers[at(b)];
  return false;
}

bool LayoutState::raise_bound(int b, Bytes value) {
  const Change raise{.before = rows_[at(b)].bound, .index = b, .kind = Kind::bound};
  trail_.push_back(raise);
  rows_[at(b)].bound = value;
  raised_.push_back(b);
  return fits(b);
}

bool LayoutState::pass_over(int b, Bytes level) {
  Bytes least = std::numeric_limits<Bytes>::max();
  for (const int other : neighbours_.of(b)) {
    if (rows_[at(other)].placed) continue;
    least = std::min(least, std::max(rows_[at(other)].bound, level) + rows_[at(other)].size);
  }
  if (least == std::numeric_limits<Bytes>::max()) return false;
  least = lowest_above(b, least);
  if (least <= rows_[at(b)].bound) return true;
  raised_.clear();
  return raise_bound(b, least) && refresh_witnesses();
}

bool LayoutState::room_above(int section, int b) const {
  Bytes need = rows_[at(b)].bound + remaining_[at(section)];
  if (table_.any_pins()) need += pinned_above(section, rows_[at(b)].bound);
  return need <= capacity_;
}

bool LayoutState::refresh_witnesses() {
  for (const int b : raised_) {
    for (const SectionRange& range : table_.ranges(b)) {
      for (int s = range.first; s < range.last; ++s) {
        if (witness_[at(s)] != b || (!rows_[at(b)].placed && room_above(s, b))) continue;
        if (!find_witness(s)) return false;
      }
    }
  }
  return true;
}

// The room above a buffer shrinks as its bound rises: if some buffer has enough, so has the lowest.
bool LayoutState::find_witness(int section) {
  int witness = -1;
  if (remaining_[at(section)] > 0) {
    for (const int b : neighbours_.in(section)) {
      if (rows_[at(b)].placed || !room_above(section, b)) continue;
      witness = b;
      break;
    }
    if (witness < 0) {
      blame(section);
      return false;
    }
  }
  const Change change{.before = witness_[at(section)], .index = section, .kind = Kind::witness};
  trail_.push_back(change);
  witness_[at(section)] = witness;
  return true;
}

// Whether an unplaced buffer of the section has its bound above `level`, at `latest` at most.
bool LayoutState::begins_within(int section, Bytes level, Bytes latest) const {
  if (latest <= level) return false;
  const auto fits = [&](int b) {
    const Row& row = rows_[at(b)];
    return !row.placed && row.bound > level && row.bound <= latest;
  };
  int& later = later_[at(section)];
  if (later >= 0 && fits(later)) return true;
  for (const int b : neighbours_.in(section)) {
    if (!fits(b)) continue;
    later = b;
    return true;
  }
  return false;
}

bool LayoutState::fits_above(SectionRange sections, Bytes level) const {
  const Bytes room = capacity_ - level;
  for (int s = sections.first; s < sections.last; ++s) {
    if (remaining_[at(s)] > room) {
      blame(s);
      return false;
    }
    if (table_.any_pins() && remaining_[at(s)] + pinned_above(s, level) > room) {
      return false;
    }
  }
  return true;
}

bool LayoutState::has_unplaced_neighbour(int b) const {
  return std::ranges::any_of(neighbours_.of(b),
                             [&](int other) { return !rows_[at(other)].placed; });
}

// Back to what they were before b was placed, the last buffer of its sections.
void LayoutState::lower_tops(int b) {
  const std::span<const SectionRange> ranges = table_.ranges(b);
  for (std::size_t r = ranges.size(); r-- > 0;) {
    for (int s = ranges[r].last; s-- > ranges[r].first;) {
      top_[at(s)] = tops_before_.back();
      tops_before_.pop_back();
    }
  }
}

void LayoutState::undo(std::size_t mark) {
  while (trail_.size() > mark) {
    const Change& change = trail_.back();
    const auto i = at(change.index);
    switch (change.kind) {
      case Kind::placement:
        rows_[i].placed = false;
        take(change.index, 1);
        lower_tops(change.index);
        break;
      case Kind::support:
        rows_[i].support = change.before;
        rows_[i].bound = change.bound_before;
        break;
      case Kind::bound:
        rows_[i].bound = change.before;
        break;
      case Kind::witness:
        witness_[i] = static_cast<int>(change.before);
        break;
    }
    trail_.pop_back();
  }
}

}  // namespace stowage
