#include "instances/layout_table.h"

#include <numeric>
#include <set>
#include <tuple>

namespace stowage {
namespace {

struct Event {
  std::int64_t step = 0;
  bool start = false;  // ends come before starts: lifetimes are half-open
  int buffer = 0;
};

// The lifetime without its gaps.
std::vector<Lifetime> pieces(const Buffer& buffer) {
  std::vector<Lifetime> all;
  std::int64_t from = buffer.lower;
  for (const Lifetime& gap : buffer.gaps) {
    if (from < gap.lower) all.push_back({from, gap.lower});
    from = gap.upper;
  }
  if (from < buffer.upper) all.push_back({from, buffer.upper});
  return all;
}

// Least common multiple, or nothing beyond kMaxExact.
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
  if (any_pins()) find_clash();
}

// A section is complete where an end follows a start: the set of the living is then contained
// neither in the one before nor in the one after.
void LayoutTable::fold_time(const LayoutInstance& instance) {
  std::vector<Event> events;
  std::vector<std::vector<SectionRange>> found(rows_.size());
  for (std::size_t b = 0; b < rows_.size(); ++b) {
    const std::vector<Lifetime> alive = pieces(instance.buffers[b]);
    if (alive.size() > 1) any_gaps_ = true;
    for (const Lifetime& piece : alive) {
      rows_[b].steps += piece.upper - piece.lower;
      if (rows_[b].size == 0) continue;
      events.push_back({piece.lower, true, static_cast<int>(b)});
      events.push_back({piece.upper, false, static_cast<int>(b)});
    }
  }
  std::ranges::sort(events, [](const Event& a, const Event& b) {
    return std::tie(a.step, a.start, a.buffer) < std::tie(b.step, b.start, b.buffer);
  });
  int complete = 0;
  bool growing = false;
  for (const Event& event : events) {
    std::vector<SectionRange>& ranges = found[static_cast<std::size_t>(event.buffer)];
    if (event.start) {
      growing = true;
      const bool touches = !ranges.empty() && ranges.back().last == complete;
      if (!touches) ranges.push_back({complete, complete});
    } else {
      if (growing) ++complete;
      growing = false;
      ranges.back().last = complete;
    }
  }
  loads_.assign(static_cast<std::size_t>(complete), 0);
  for (std::size_t b = 0; b < rows_.size(); ++b) {
    rows_[b].ranges = ranges_.size();
    rows_[b].range_count = found[b].size();
    ranges_.insert(ranges_.end(), found[b].begin(), found[b].end());
    if (!found[b].empty()) rows_[b].hull = {found[b].front().first, found[b].back().last};
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
  std::vector<int> crossing(loads_.size() + 1, 0);  // of the border before a section, as changes
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
  std::vector<int> order(rows_.size());
  std::iota(order.begin(), order.end(), 0);
  const auto same_place = [&](int a, int b) { return std::ranges::equal(ranges(a), ranges(b)); };
  const auto key = [&](int b) {
    const Row& r = row(b);
    return std::tie(r.hull.first, r.hull.last, r.size, r.alignment, r.range_count);
  };
  const auto before = [&](int a, int b) {
    if (key(a) != key(b)) return key(a) < key(b);
    const auto ra = ranges(a);
    const auto rb = ranges(b);
    for (std::size_t i = 0; i < ra.size(); ++i) {
      if (!(ra[i] == rb[i])) {
        return std::tie(ra[i].first, ra[i].last) < std::tie(rb[i].first, rb[i].last);
      }
    }
    return a < b;
  };
  std::erase_if(order, [&](int b) { return pinned(b) || idle(b); });
  std::ranges::sort(order, before);
  for (std::size_t i = 1; i < order.size(); ++i) {
    const int a = order[i - 1];
    const int b = order[i];
    if (key(a) == key(b) && same_place(a, b)) rows_[static_cast<std::size_t>(b)].twin = a;
  }
}

// Sweeps the sections with the pinned buffers of each sorted by offset. Inserting or removing looks
// at two neighbours only: the first overlap that appears is between neighbours.
void LayoutTable::find_clash() {
  struct Change {
    int section = 0;
    bool enters = false;  // leaves first
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
  for (const int other : pins_) {
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
