#include "instances/layout/planning_table.h"

#include <numeric>
#include <set>
#include <tuple>

#include "instances/layout/events.h"

namespace stowage {
namespace {

// Returns the least common multiple, or nullopt beyond kMaxExact.
std::optional<Bytes> common_multiple(Bytes a, Bytes b) {
  const auto product = checked_mul(a / std::gcd(a, b), b);
  if (!product || *product > kMaxExact) return std::nullopt;
  return product;
}

}  // namespace

LayoutTable::LayoutTable(const LayoutInstance& instance) {
  rows_.resize(instance.buffers.size());
  const auto add = [&](Bytes bytes) {
    stack_ = std::min(kMaxExact + 1, stack_) + std::min(kMaxExact + 1, bytes);
  };
  Bytes unit = 0;
  for (std::size_t b = 0; b < rows_.size(); ++b) {
    const Buffer& buffer = instance.buffers[b];
    Row& row = rows_[b];
    row.size = buffer.size;
    row.lower = buffer.lower;
    row.upper = buffer.upper;
    const auto alignment = common_multiple(instance.alignment, buffer.alignment);
    row.alignment = alignment.value_or(kMaxExact);
    if (buffer.offset) row.pin = *buffer.offset;
    if (!alignment && buffer.size > 0) stackable_ = false;
    if (row.pin >= 0) {
      pins_.push_back(static_cast<int>(b));
      const Bytes end = checked_add(row.pin, row.size).value_or(kMaxExact + 1);
      max_load_ = std::max(max_load_, end);
      unit = std::gcd(unit, end);
      add(end);
    } else if (row.size > 0) {
      max_load_ = std::max(max_load_, row.size);
      unit = std::gcd(unit, row.size);
      if (row.alignment > 1) unit = std::gcd(unit, row.alignment);
      add(row.size);
      add(row.alignment - 1);
    }
  }
  unit_ = std::max<Bytes>(unit, 1);
  stackable_ = stackable_ && stack_ <= kMaxExact;
  fold_time(instance);
  if (stackable_) add_loads();
  max_load_ = (max_load_ + unit_ - 1) / unit_ * unit_;
  find_components();
  find_twins();
  std::ranges::stable_sort(pins_, {}, [&](int b) { return pin(b); });
  for (const int b : pins_) {
    const Bytes end = checked_add(pin(b), size(b)).value_or(kMaxExact);
    pins_below_.push_back(pins_below_.empty() ? end : std::max(pins_below_.back(), end));
  }
  if (any_pins()) find_clash();
}

// A section is complete at an end that follows a start: the set of live buffers is then contained
// neither in the section before nor in the one after.
void LayoutTable::fold_time(const LayoutInstance& instance) {
  std::size_t needs = 0;
  for (std::size_t b = 0; b < rows_.size(); ++b) {
    Row& row = rows_[b];
    row.ranges = needs;  // upper limit: one range for each need
    std::size_t own = 0;
    for_each_need(instance.buffers[b], [&](const Lifetime& need) {
      row.steps += need.upper - need.lower;
      ++own;
    });
    any_gaps_ = any_gaps_ || own > 1;
    if (row.size > 0) needs += own;
  }
  ranges_.resize(needs);
  int complete = 0;
  bool growing = false;
  for (const LayoutEvent& event : layout_events(instance, [](const Buffer&) { return true; })) {
    Row& row = rows_[static_cast<std::size_t>(event.buffer)];
    if (event.begins) {
      growing = true;
      const bool touches =
          row.range_count > 0 && ranges_[row.ranges + row.range_count - 1].last == complete;
      if (!touches) ranges_[row.ranges + row.range_count++] = {complete, complete};
    } else {
      if (growing) ++complete;
      growing = false;
      ranges_[row.ranges + row.range_count - 1].last = complete;
    }
  }
  loads_.assign(static_cast<std::size_t>(complete), 0);
  for (Row& row : rows_) {
    if (row.range_count == 0) continue;
    row.hull = {ranges_[row.ranges].first, ranges_[row.ranges + row.range_count - 1].last};
  }
}

void LayoutTable::add_loads() {
  std::vector<Bytes> change(loads_.size() + 1, 0);
  for (int b = 0; b < buffers(); ++b) {
    for (const SectionRange& range : ranges(b)) {
      change[static_cast<std::size_t>(range.first)] += size(b);
      change[static_cast<std::size_t>(range.last)] -= size(b);
    }
  }
  Bytes load = 0;
  for (std::size_t s = 0; s < loads_.size(); ++s) {
    load += change[s];
    loads_[s] = load;
    max_load_ = std::max(max_load_, load);
  }
}

void LayoutTable::find_components() {
  std::vector<int> crossing(loads_.size() + 1, 0);  // changes across the border before a section
  for (const Row& row : rows_) {
    if (row.hull.last - row.hull.first < 2) continue;
    ++crossing[static_cast<std::size_t>(row.hull.first) + 1];
    --crossing[static_cast<std::size_t>(row.hull.last)];
  }
  int first = 0;
  int open = 0;
  for (int s = 1; s <= sections(); ++s) {
    open += crossing[static_cast<std::size_t>(s)];
    if (open > 0) continue;
    components_.push_back({first, s});
    first = s;
  }
}

void LayoutTable::find_twins() {
  struct Start {
    int section = 0;
    int buffer = 0;
  };
  std::vector<Start> order;
  order.reserve(rows_.size());
  for (int b = 0; b < buffers(); ++b) {
    if (!pinned(b) && !idle(b)) order.push_back({hull(b).first, b});
  }
  radix_sort(order, [](const Start& start) { return sort_key(std::int64_t{start.section}); });
  const auto place = [](const SectionRange& range) { return std::tie(range.first, range.last); };
  const auto key = [&](const Start& start) {
    const Row& r = row(start.buffer);
    return std::tie(r.hull.last, r.size, r.alignment, r.range_count);
  };
  const auto twins = [&](const Start& a, const Start& b) {
    return key(a) == key(b) && std::ranges::equal(ranges(a.buffer), ranges(b.buffer));
  };
  const auto before = [&](const Start& a, const Start& b) {
    if (key(a) != key(b)) return key(a) < key(b);
    if (twins(a, b)) return a.buffer < b.buffer;
    return std::ranges::lexicographical_compare(ranges(a.buffer), ranges(b.buffer), {}, place,
                                                place);
  };
  for (std::size_t from = 0, to = 0; from < order.size(); from = to) {
    while (to < order.size() && order[to].section == order[from].section) ++to;
    std::sort(order.begin() + static_cast<std::ptrdiff_t>(from),
              order.begin() + static_cast<std::ptrdiff_t>(to), before);
    for (std::size_t i = from + 1; i < to; ++i) {
      if (!twins(order[i - 1], order[i])) continue;
      rows_[static_cast<std::size_t>(order[i].buffer)].twin = order[i - 1].buffer;
    }
  }
}

// Sweeps the sections with the pinned buffers of each sorted by offset. Inserting or removing a
// buffer compares two neighbours only: the first overlap that appears is between neighbours.
void LayoutTable::find_clash() {
  struct Change {
    int section = 0;
    bool enters = false;  // a buffer that leaves comes first
    int buffer = 0;
  };
  std::vector<Change> changes;
  for (const int b : pins_) {
    for (const SectionRange& range : ranges(b)) {
      changes.push_back({range.first, true, b});
      changes.push_back({range.last, false, b});
    }
  }
  std::ranges::sort(changes, [](const Change& a, const Change& b) {
    return std::tie(a.section, a.enters, a.buffer) < std::tie(b.section, b.enters, b.buffer);
  });
  std::set<std::pair<Bytes, int>> alive;
  for (const Change& change : changes) {
    const int b = change.buffer;
    if (!change.enters) {
      alive.erase({pin(b), b});
      continue;
    }
    const auto at = alive.insert({pin(b), b}).first;
    const auto overlap = [&](int below, int above) {
      return pin(below) + size(below) > pin(above);
    };
    if (at != alive.begin() && overlap(std::prev(at)->second, b)) {
      clash_ = std::minmax(std::prev(at)->second, b);
    } else if (std::next(at) != alive.end() && overlap(b, std::next(at)->second)) {
      clash_ = std::minmax(std::next(at)->second, b);
    }
    if (clash_) return;
  }
}

Bytes LayoutTable::clear_of_pins(int b, Bytes offset) const {
  offset = aligned(b, offset);
  const auto meets = std::ranges::upper_bound(pins_below_, offset) - pins_below_.begin();
  for (auto k = static_cast<std::size_t>(meets); k < pins_.size(); ++k) {
    const int other = pins_[k];
    if (pin(other) >= offset + size(b)) break;
    const Bytes end = pin(other) + size(other);
    if (end > offset && conflict(b, other)) offset = aligned(b, end);
  }
  return offset;
}

bool LayoutTable::conflict(int a, int b) const {
  const auto ra = ranges(a);
  const auto rb = ranges(b);
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < ra.size() && j < rb.size()) {
    if (ra[i].last <= rb[j].first) {
      ++i;
    } else if (rb[j].last <= ra[i].first) {
      ++j;
    } else {
      return true;
    }
  }
  return false;
}

}  // namespace stowage
