#include "solvers/layout/tree/state.h"

#include <algorithm>
#include <limits>
#include <random>

namespace stowage {

LayoutState::LayoutState(const LayoutTable& table, const LayoutNeighbours& neighbours,
                         Bytes capacity)
    : table_(table), neighbours_(neighbours), capacity_(capacity) {
  const auto n = at(table.buffers());
  const auto sections = at(table.sections());
  rows_.resize(n);
  std::mt19937_64 random(1);
  for (std::size_t b = 0; b < n; ++b) {
    const StateKey buffer{random(), random()};
    weights_.push_back({buffer, {random(), random()}});
  }
  failures_.buffers.assign(n, 0);
  failures_.sections.assign(sections, 0);
  remaining_.assign(sections, 0);
  top_.assign(sections, 0);
  touches_.resize(sections);
  levels_.resize(n);
  starts_.assign(sections, 0);
  ends_.assign(sections, 0);
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
      rows_[at(b)].placed = true;  // idle buffers lie at 0
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
  for (int b = 0; b < table.buffers(); ++b) {
    if (!rows_[at(b)].placed) count_in_key(b, 1);
  }
  for (int s = 0; s < table.sections(); ++s) {
    if (!fits_between(s, -1, capacity)) possible_ = false;
  }
  trail_.clear();
}

void LayoutState::count_in_key(int b, int sign) {
  const Weights& its = weights_[at(b)];
  const auto times = static_cast<std::uint64_t>(sign);
  key_.first += times * its.buffer.first;
  key_.second += times * its.buffer.second;
  raise_in_key(b, sign * rows_[at(b)].support);
}

void LayoutState::raise_in_key(int b, Bytes by) {
  const StateKey& weight = weights_[at(b)].offset;
  key_.first += weight.first * static_cast<std::uint64_t>(by);
  key_.second += weight.second * static_cast<std::uint64_t>(by);
}

void LayoutState::take(int b, int sign) {
  for (const SectionRange& range : table_.ranges(b)) {
    for (int s = range.first; s < range.last; ++s) remaining_[at(s)] += sign * rows_[at(b)].size;
    starts_[at(range.first)] += sign;
    ends_[at(range.last - 1)] += sign;
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
  count_in_key(b, -1);
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
  for (const int other : neighbours_.of(b)) {
    Row& row = rows_[at(other)];
    if (row.placed || row.support >= top) continue;
    const Change raise{
        .before = row.support, .bound_before = row.bound, .index = other, .kind = Kind::support};
    trail_.push_back(raise);
    row.support = lowest_above(other, top);
    raise_in_key(other, row.support - raise.before);
    if (row.support <= row.bound) continue;
    raised_.push_back({other, row.bound});
    row.bound = row.support;
    if (!below_capacity(other)) return false;
  }
  return sections_fit();
}

bool LayoutState::below_capacity(int b) {
  if (rows_[at(b)].bound + rows_[at(b)].size <= capacity_) return true;
  ++failures_.buffers[at(b)];
  return false;
}

bool LayoutState::raise_bound(int b, Bytes value) {
  const Change raise{.before = rows_[at(b)].bound, .index = b, .kind = Kind::bound};
  trail_.push_back(raise);
  raised_.push_back({b, rows_[at(b)].bound});
  rows_[at(b)].bound = value;
  return below_capacity(b);
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
  return raise_bound(b, least) && sections_fit();
}

void LayoutState::list_touched() {
  ++visit_;
  touched_.clear();
  // The test below ignores the room of pinned buffers, so with pins no section is skipped.
  const Bytes least_room = table_.any_pins() ? -1 : capacity_;
  for (const Raised& raised : raised_) {
    const Bytes bound = rows_[at(raised.buffer)].bound;
    for (const SectionRange& range : table_.ranges(raised.buffer)) {
      for (int s = range.first; s < range.last; ++s) {
        // All unplaced buffers of the section fit above the new bound.
        if (bound + remaining_[at(s)] <= least_room) continue;
        Touch& touch = touches_[at(s)];
        if (touch.visit != visit_) {
          touch = {visit_, raised.before, bound};
          touched_.push_back(s);
          continue;
        }
        touch.low = std::min(touch.low, raised.before);
        touch.high = std::max(touch.high, bound);
      }
    }
  }
}

bool LayoutState::sections_fit() {
  list_touched();
  for (const int s : touched_) {
    const Touch& touch = touches_[at(s)];
    // An adjacent section needs room for the same unplaced buffers, so its check suffices.
    if (!table_.any_pins() &&
        (ends_[at(s)] == 0 || (starts_[at(s)] == 0 && ends_[at(s - 1)] > 0))) {
      continue;
    }
    if (!fits_between(s, touch.low, touch.high)) return false;
  }
  return true;
}

// The buffers of a section lie above each other. So the unplaced buffers whose bound is at least
// some level must fit above that level. Returns false if a level in (low, high] fails.
bool LayoutState::fits_between(int section, Bytes low, Bytes high) {
  // All unplaced buffers fit above lower levels.
  if (!table_.any_pins()) low = std::max(low, capacity_ - remaining_[at(section)]);
  Bytes above = 0;
  Bytes sum = 0;
  Bytes highest = 0;
  std::size_t count = 0;  // used entries of levels_
  for (const int b : neighbours_.in(section)) {
    const Row& row = rows_[at(b)];
    if (row.placed || row.bound <= low) continue;
    if (row.bound > high) {
      above += row.size;
      continue;
    }
    levels_[count++] = {row.bound, row.size};
    sum += row.size;
    highest = std::max(highest, row.bound);
  }
  if (!table_.any_pins() && highest + sum + above <= capacity_) return true;
  std::sort(levels_.begin(), levels_.begin() + static_cast<std::ptrdiff_t>(count),
            [](const Level& a, const Level& b) { return a.bound > b.bound; });
  for (std::size_t i = 0; i < count; ++i) {
    above += levels_[i].size;
    Bytes need = levels_[i].bound + above;
    if (table_.any_pins()) need += pinned_above(section, levels_[i].bound);
    if (need > capacity_) {
      blame(section);
      return false;
    }
  }
  return true;
}

// Returns true if an unplaced buffer of the section has a bound in (level, latest].
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

// Restores the tops of the sections of b, which was the last buffer placed there.
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
    }
    trail_.pop_back();
  }
}

}  // namespace stowage
