#include "heuristics/layout/index/next_buffer_by_load.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <tuple>

#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

constexpr int kNever = std::numeric_limits<int>::max();
constexpr Bytes kNoSection = std::numeric_limits<Bytes>::min() / 2;

}  // namespace

NextBufferByLoad::NextBufferByLoad(std::vector<SectionRange> ranges, std::vector<Bytes> sizes,
                                   std::vector<Bytes> more, const Budget& budget,
                                   const FullestDiveParams& params)
    : most_starts_(params.starts),
      sections_(static_cast<int>(more.size())),
      leaves_(std::bit_ceil(std::max<std::size_t>(1, more.size()))),
      ranges_(std::move(ranges)),
      sizes_(std::move(sizes)) {
  std::vector<int> order(ranges_.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](int r) {
    return std::tuple(ranges_[at(r)].first, ranges_[at(r)].last, sizes_[at(r)], -r);
  });
  if (budget.exhausted()) return;
  group_.assign(more.size() + 1, 0);
  for (const SectionRange& range : ranges_) ++group_[at(range.first) + 1];
  std::partial_sum(group_.begin(), group_.end(), group_.begin());
  place_.resize(ranges_.size());
  for (const int r : order) {
    place_[at(r)] = entries_.size();
    widest_ = std::max(widest_, ranges_[at(r)].last - ranges_[at(r)].first);
    entries_.push_back({ranges_[at(r)].last, r});
  }
  present_ = OrderedBitset(entries_.size());

  std::vector<Bytes> change(more.size() + 1, 0);
  for (std::size_t r = 0; r < ranges_.size(); ++r) {
    change[at(ranges_[r].first)] += sizes_[r];
    change[at(ranges_[r].last)] -= sizes_[r];
  }
  load_.assign(2 * leaves_, kNoSection);
  whole_.assign(2 * leaves_, 0);
  least_end_.assign(2 * leaves_, kNever);
  Bytes load = 0;
  for (std::size_t s = 0; s < more.size(); ++s) {
    load += change[s];
    load_[leaves_ + s] = load + more[s];
    if (group_[s] < group_[s + 1]) least_end_[leaves_ + s] = entries_[group_[s]].last;
  }
  for (std::size_t node = leaves_; node-- > 1;) {
    load_[node] = std::max(load_[2 * node], load_[2 * node + 1]);
    least_end_[node] = std::min(least_end_[2 * node], least_end_[2 * node + 1]);
  }
  complete_ = !budget.exhausted();
}

int NextBufferByLoad::least(SectionRange window) {
  parts_.clear();
  add_part(window);
  for (int seen = 0; !parts_.empty(); ++seen) {
    std::pop_heap(parts_.begin(), parts_.end());
    const Part part = parts_.back();
    parts_.pop_back();
    const Widest over = widest_over(part.window, part.fullest);
    if (over.rank != kNone) return over.rank;
    if (seen == most_starts_ / 8) {
      return widest_from(next_start(part.window.first, part.window.last), part.window.last).rank;
    }
    // No range covers the fullest section, so each range inside the window lies on one side of it.
    add_part({part.window.first, part.fullest});
    add_part({part.fullest + 1, part.window.last});
  }
  return kNone;
}

// Adds a window to the parts if a present range lies inside the window.
void NextBufferByLoad::add_part(SectionRange window) {
  if (next_start(window.first, window.last) >= window.last) return;
  const int section = fullest(window);
  std::size_t node = leaves_ + at(section);
  Bytes load = load_[node];
  for (node /= 2; node > 0; node /= 2) load += whole_[node];
  parts_.push_back({load, section, window});
  std::push_heap(parts_.begin(), parts_.end());
}

void NextBufferByLoad::erase(int rank) {
  set_present(rank, false);
  add_load(ranges_[at(rank)], -sizes_[at(rank)]);
}

void NextBufferByLoad::insert(int rank) {
  set_present(rank, true);
  add_load(ranges_[at(rank)], sizes_[at(rank)]);
}

void NextBufferByLoad::set_present(int rank, bool present) {
  const std::size_t place = place_[at(rank)];
  present ? present_.insert(place) : present_.erase(place);
  const std::size_t first = at(ranges_[at(rank)].first);
  const std::size_t entry = present_.at_or_above(group_[first]);
  std::size_t node = leaves_ + first;
  least_end_[node] = entry < group_[first + 1] ? entries_[entry].last : kNever;
  for (node /= 2; node > 0; node /= 2) {
    least_end_[node] = std::min(least_end_[2 * node], least_end_[2 * node + 1]);
  }
}

int NextBufferByLoad::next_start(int from, int last) const {
  if (from >= sections_) return kNever;
  std::size_t node = leaves_ + at(from);
  // Walks up until a node to the right contains a range that ends by `last`, then down to the first
  // such leaf.
  while (least_end_[node] > last) {
    while (node % 2 == 1) node /= 2;
    if (node == 0) return kNever;
    ++node;
  }
  while (node < leaves_) {
    node *= 2;
    if (least_end_[node] > last) ++node;
  }
  return static_cast<int>(node - leaves_);
}

// Returns the widest present range that starts at `first` and ends by `last`. Requires that such a
// range exists.
NextBufferByLoad::Widest NextBufferByLoad::widest_from(int first, int last) const {
  const auto begin = entries_.begin() + static_cast<std::ptrdiff_t>(group_[at(first)]);
  const auto end = entries_.begin() + static_cast<std::ptrdiff_t>(group_[at(first) + 1]);
  const auto beyond =
      std::upper_bound(begin, end, last, [](int bound, const Entry& e) { return bound < e.last; });
  const Entry& entry =
      entries_[present_.at_or_below(static_cast<std::size_t>(beyond - entries_.begin()) - 1)];
  return {entry.rank, entry.last - first};
}

NextBufferByLoad::Widest NextBufferByLoad::widest_over(SectionRange window, int section) {
  Widest widest;
  const bool many = starts_seen_ > at(most_starts_) / 4 * ranges_.size();
  const int most = many ? most_starts_ / 16 : most_starts_;
  int seen = 0;
  const int from = std::max(window.first, section - widest_ + 1);
  for (int first = next_start(from, window.last);
       first <= section && window.last - first > widest.width && seen++ < most;
       first = next_start(first + 1, window.last)) {
    const Widest own = widest_from(first, window.last);
    if (first + own.width > section && own.width > widest.width) widest = own;
  }
  starts_seen_ += at(seen);
  return widest;
}

int NextBufferByLoad::fullest(SectionRange window) const {
  // Finds the covering node with the largest load, then descends to its first section with that
  // load.
  Bytes most = kNoSection;
  std::size_t best = 0;
  const auto consider = [&](std::size_t node) {
    Bytes load = load_[node];
    for (std::size_t above = node / 2; above > 0; above /= 2) load += whole_[above];
    if (best != 0 && load <= most) return;
    most = load;
    best = node;
  };
  std::size_t right_nodes[64];
  int rights = 0;
  std::size_t left = leaves_ + at(window.first);
  std::size_t right = leaves_ + at(window.last);
  for (; left < right; left /= 2, right /= 2) {
    if (left % 2 == 1) consider(left++);
    if (right % 2 == 1) right_nodes[rights++] = --right;
  }
  while (rights > 0) consider(right_nodes[--rights]);
  while (best < leaves_) {
    best *= 2;
    if (load_[best + 1] > load_[best]) ++best;
  }
  return static_cast<int>(best - leaves_);
}

void NextBufferByLoad::add_load(SectionRange range, Bytes bytes) {
  const auto add = [&](std::size_t node) {
    load_[node] += bytes;
    if (node < leaves_) whole_[node] += bytes;
  };
  const auto renew = [&](std::size_t node) {
    for (node /= 2; node > 0; node /= 2) {
      load_[node] = std::max(load_[2 * node], load_[2 * node + 1]) + whole_[node];
    }
  };
  std::size_t left = leaves_ + at(range.first);
  std::size_t right = leaves_ + at(range.last);
  const std::size_t first = left;
  const std::size_t last = right - 1;
  for (; left < right; left /= 2, right /= 2) {
    if (left % 2 == 1) add(left++);
    if (right % 2 == 1) add(--right);
  }
  renew(first);
  renew(last);
}

}  // namespace stowage
