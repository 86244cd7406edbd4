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
  floor_.assign(sections, 0);
  top_.assign(sections, 0);
  witness_.assign(sections, -1);
  crossing_.assign(sections + 1, 0);
  if (table.any_pins()) section_pins_.resize(sections);
  for (int b = 0; b < table.buffers(); ++b) rows_[at(b)].size = table.size(b);
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
    if (!refresh_floor(s)) possible_ = false;
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
  trail_.push_back({.index = b, .kind = Kind::placement});
  const Bytes top = rows_[at(b)].support + rows_[at(b)].size;
  for (const SectionRange& range : table_.ranges(b)) {
    for (int s = range.first; s < range.last; ++s) {
      trail_.push_back({.before = top_[at(s)], .index = s, .kind = Kind::top});
      top_[at(s)] = top;
    }
  }
  raised_.clear();
  raised_.push_back(b);
  for (const int other : neighbours_.of(b)) {
    Row& row = rows_[at(other)];
    if (row.placed || row.support >= top) continue;
    const Bytes value = table_.clear_of_pins(other, top);
    trail_.push_back(
        {.before = row.support, .bound_before = row.bound, .index = other, .kind = Kind::support});
    row.support = value;
    if (value <= row.bound) continue;
    row.bound = value;
    raised_.push_back(other);
    if (!fits(other)) return false;
  }
  return refresh_floors();
}

bool LayoutState::fits(int b) {
  if (rows_[at(b)].bound + rows_[at(b)].size <= capacity_) return true;
  ++failures_.buffers[at(b)];
  return false;
}

bool LayoutState::raise_bound(int b, Bytes value) {
  trail_.push_back({.before = rows_[at(b)].bound, .index = b, .kind = Kind::bound});
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
  least = table_.clear_of_pins(b, least);
  if (least <= rows_[at(b)].bound) return true;
  raised_.clear();
  return raise_bound(b, least) && refresh_floors();
}

bool LayoutState::refresh_floors() {
  for (const int b : raised_) {
    for (const SectionRange& range : table_.ranges(b)) {
      for (int s = range.first; s < range.last; ++s) {
        if (witness_[at(s)] == b && !refresh_floor(s)) return false;
      }
    }
  }
  return true;
}

bool LayoutState::refresh_floor(int section) {
  Bytes least = std::numeric_limits<Bytes>::max();
  int witness = -1;
  for (const int b : neighbours_.in(section)) {
    if (!rows_[at(b)].placed && rows_[at(b)].bound < least) {
      least = rows_[at(b)].bound;
      witness = b;
    }
  }
  trail_.push_back({.before = floor_[at(section)],
                    .index = section,
                    .witness_before = witness_[at(section)],
                    .kind = Kind::floor});
  floor_[at(section)] = least;
  witness_[at(section)] = witness;
  if (witness < 0) return true;
  Bytes need = least + remaining_[at(section)];
  if (table_.any_pins()) need += pinned_above(section, least);
  if (need <= capacity_) return true;
  blame(section);
  return false;
}

bool LayoutState::fits_above(SectionRange sections, Bytes level) const {
  const Bytes room = capacity_ - level;
  for (int s = sections.first; s < sections.last; ++s) {
    if (remaining_[at(s)] > room) {
      blame(s);
      return false;
    }
    if (table_.any_pins() && floor_[at(s)] < level &&
        remaining_[at(s)] + pinned_above(s, level) > room) {
      return false;
    }
  }
  return true;
}

bool LayoutState::has_unplaced_neighbour(int b) const {
  return std::ranges::any_of(neighbours_.of(b),
                             [&](int other) { return !rows_[at(other)].placed; });
}

void LayoutState::undo(std::size_t mark) {
  while (trail_.size() > mark) {
    const Change& change = trail_.back();
    switch (change.kind) {
      case Kind::placement:
        rows_[at(change.index)].placed = false;
        take(change.index, 1);
        break;
      case Kind::support:
        rows_[at(change.index)].support = change.before;
        rows_[at(change.index)].bound = change.bound_before;
        break;
      case Kind::bound:
        rows_[at(change.index)].bound = change.before;
        break;
      case Kind::top:
        top_[at(change.index)] = change.before;
        break;
      case Kind::floor:
        floor_[at(change.index)] = change.before;
        witness_[at(change.index)] = change.witness_before;
        break;
    }
    trail_.pop_back();
  }
}

}  // namespace stowage
