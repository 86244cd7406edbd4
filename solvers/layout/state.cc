#include "solvers/layout/state.h"

#include <algorithm>
#include <limits>

namespace stowage {

LayoutState::LayoutState(const LayoutTable& table, const LayoutNeighbours& neighbours,
                         Bytes capacity)
    : table_(table), neighbours_(neighbours), capacity_(capacity) {
  const auto n = at(table.buffers());
  const auto sections = at(table.sections());
  size_.resize(n);
  failures_.buffers.assign(n, 0);
  failures_.sections.assign(sections, 0);
  support_.assign(n, 0);
  placed_.assign(n, 0);
  remaining_.assign(sections, 0);
  floor_.assign(sections, 0);
  top_.assign(sections, 0);
  witness_.assign(sections, -1);
  crossing_.assign(sections + 1, 0);
  if (table.any_pins()) section_pins_.resize(sections);
  for (int b = 0; b < table.buffers(); ++b) size_[at(b)] = table.size(b);
  for (int b = 0; b < table.buffers(); ++b) {
    if (table.pinned(b)) {
      placed_[at(b)] = 1;
      support_[at(b)] = table.pin(b);
      possible_ = possible_ && table.pin(b) + table.size(b) <= capacity;
      for (const SectionRange& range : table.ranges(b)) {
        for (int s = range.first; s < range.last; ++s) section_pins_[at(s)].push_back(b);
      }
      continue;
    }
    if (table.idle(b)) {
      placed_[at(b)] = 1;  // at 0
      possible_ = possible_ && table.size(b) <= capacity;
      continue;
    }
    if (table.any_pins()) {
      support_[at(b)] = table.clear_of_pins(b, 0);
    }
    possible_ = possible_ && support_[at(b)] + table.size(b) <= capacity;
    take(b, 1);
  }
  bound_ = support_;
  for (int s = 0; s < table.sections(); ++s) {
    if (!refresh_floor(s)) possible_ = false;
  }
  trail_.clear();
}

void LayoutState::take(int b, int sign) {
  for (const SectionRange& range : table_.ranges(b)) {
    for (int s = range.first; s < range.last; ++s) remaining_[at(s)] += sign * size_[at(b)];
  }
  const SectionRange hull = table_.hull(b);
  for (int s = hull.first + 1; s < hull.last; ++s) crossing_[at(s)] += sign;
}

Bytes LayoutState::pinned_above(int section, Bytes level) const {
  Bytes sum = 0;
  for (const int pin : section_pins_[at(section)]) {
    sum += std::max<Bytes>(0, table_.pin(pin) + size_[at(pin)] - std::max(table_.pin(pin), level));
  }
  return sum;
}

bool LayoutState::place(int b) {
  placed_[at(b)] = 1;
  take(b, -1);
  trail_.push_back({.index = b, .kind = Kind::placement});
  const Bytes top = support_[at(b)] + size_[at(b)];
  for (const SectionRange& range : table_.ranges(b)) {
    for (int s = range.first; s < range.last; ++s) {
      trail_.push_back({.before = top_[at(s)], .index = s, .kind = Kind::top});
      top_[at(s)] = top;
    }
  }
  raised_.clear();
  raised_.push_back(b);
  for (const int other : neighbours_.of(b)) {
    if (placed_[at(other)] || support_[at(other)] >= top) continue;
    const Bytes value = table_.clear_of_pins(other, top);
    trail_.push_back({.before = support_[at(other)], .index = other, .kind = Kind::support});
    support_[at(other)] = value;
    if (value > bound_[at(other)] && !raise_bound(other, value)) return false;
  }
  return refresh_floors();
}

bool LayoutState::raise_bound(int b, Bytes value) {
  trail_.push_back({.before = bound_[at(b)], .index = b, .kind = Kind::bound});
  bound_[at(b)] = value;
  raised_.push_back(b);
  if (value + size_[at(b)] <= capacity_) return true;
  ++failures_.buffers[at(b)];
  return false;
}

bool LayoutState::pass_over(int b, Bytes level) {
  Bytes least = std::numeric_limits<Bytes>::max();
  for (const int other : neighbours_.of(b)) {
    if (placed_[at(other)]) continue;
    least = std::min(least, std::max(bound_[at(other)], level) + size_[at(other)]);
  }
  if (least == std::numeric_limits<Bytes>::max()) return false;
  least = table_.clear_of_pins(b, least);
  if (least <= bound_[at(b)]) return true;
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
    if (!placed_[at(b)] && bound_[at(b)] < least) {
      least = bound_[at(b)];
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
  return std::ranges::any_of(neighbours_.of(b), [&](int other) { return !placed_[at(other)]; });
}

void LayoutState::undo(std::size_t mark) {
  while (trail_.size() > mark) {
    const Change& change = trail_.back();
    switch (change.kind) {
      case Kind::placement:
        placed_[at(change.index)] = 0;
        take(change.index, 1);
        break;
      case Kind::support:
        support_[at(change.index)] = change.before;
        break;
      case Kind::bound:
        bound_[at(change.index)] = change.before;
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
