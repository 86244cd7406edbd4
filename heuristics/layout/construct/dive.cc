#include "heuristics/layout/construct/dive.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>
#include <utility>

#include "heuristics/layout/index/contained_index.h"
#include "heuristics/layout/index/next_buffer_by_load.h"
#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

// height beyond the first and the last section
constexpr Bytes kRim = std::numeric_limits<Bytes>::max();
// Returns the number of placements between two reads of the clock. A placement may visit all pinned
// buffers, so more pins give fewer placements.
int clock_placements(std::size_t pins) { return static_cast<int>(1 + 32736 / (32 + pins)); }

// Heights over the sections as stretches of equal height, with access to the lowest stretch.
class Skyline {
 public:
  explicit Skyline(int sections)
      : sections_(sections),
        height_(at(sections) + 1, kRim),
        last_(at(sections) + 1, 0),
        previous_(at(sections) + 1, 0) {
    if (sections == 0) return;
    last_[0] = sections;
    previous_[at(sections)] = 0;
    set_height(0, 0);
  }

  struct Valley {
    SectionRange sections;
    Bytes height = 0;
    Bytes rim = 0;  // the lower of the two adjacent heights; kRim if the valley spans all sections
  };

  // Returns the first of the lowest stretches, joined with neighbours of the same height. Requires
  // at least one section.
  Valley lowest() {
    while (!current(heap_.top())) heap_.pop();
    int first = heap_.top().second;
    const Bytes height = heap_.top().first;
    while (first > 0 && height_[at(previous_[at(first)])] == height) {
      first = previous_[at(first)];
      join_next(first);
    }
    while (last_[at(first)] < sections_ && height_[at(last_[at(first)])] == height) {
      join_next(first);
    }
    const Bytes left = first == 0 ? kRim : height_[at(previous_[at(first)])];
    const int last = last_[at(first)];
    const Bytes right = last == sections_ ? kRim : height_[at(last)];
    return {{first, last}, height, std::min(left, right)};
  }

  // Raises `sections`, which lie inside the valley, to `height`.
  void raise(const Valley& valley, SectionRange sections, Bytes height) {
    cut(valley.sections.first, sections.first);
    cut(sections.first, sections.last);
    set_height(sections.first, height);
  }

  // Raises arbitrary sections to at least this height. O(sections).
  void raise_anywhere(SectionRange sections, Bytes height) {
    int stretch = 0;
    for (const int border : {sections.first, sections.last}) {
      while (last_[at(stretch)] < border) stretch = last_[at(stretch)];
      cut(stretch, border);
    }
    for (int s = sections.first; s < sections.last; s = last_[at(s)]) {
      if (height_[at(s)] < height) set_height(s, height);
    }
  }

 private:
  using Stretch = std::pair<Bytes, int>;  // height, first section

  bool current(const Stretch& stretch) const {
    return last_[at(stretch.second)] > stretch.second &&
           height_[at(stretch.second)] == stretch.first;
  }

  void set_height(int first, Bytes height) {
    height_[at(first)] = height;
    heap_.push({height, first});
  }

  void join_next(int first) {
    const int next = last_[at(first)];
    last_[at(first)] = last_[at(next)];
    previous_[at(last_[at(first)])] = first;
    last_[at(next)] = 0;  // no stretch begins there any more
  }

  // Makes a stretch begin at `section`, which lies inside the stretch that begins at `first` or at
  // one of its borders.
  void cut(int first, int section) {
    if (section == first || section == last_[at(first)]) return;
    last_[at(section)] = last_[at(first)];
    previous_[at(last_[at(section)])] = section;
    previous_[at(section)] = first;
    last_[at(first)] = section;
    set_height(section, height_[at(first)]);
  }

  int sections_;
  std::vector<Bytes> height_;  // height of the stretch that begins at each section
  // end of the stretch; if not after its start, no stretch begins at the section
  std::vector<int> last_;
  std::vector<int> previous_;  // start of the previous stretch
  std::priority_queue<Stretch, std::vector<Stretch>, std::greater<>> heap_;
};

std::vector<SectionRange> hulls(const LayoutTable& table, const std::vector<int>& order) {
  std::vector<SectionRange> all;
  all.reserve(order.size());
  for (const int b : order) all.push_back(table.hull(b));
  return all;
}

// Builds a layout by filling valleys. The index determines which waiting buffer a valley takes, as
// a position in the order.
template <class Index>
class Dive {
 public:
  Dive(const LayoutTable& table, const std::vector<int>& order, Index index, const Budget& budget)
      : table_(table),
        order_(order),
        skyline_(table.sections()),
        budget_(budget),
        index_(std::move(index)),
        offsets_(static_cast<std::size_t>(table.buffers()), 0) {
    for (int b = 0; b < table.buffers(); ++b) {
      if (!table.pinned(b)) continue;
      offsets_[static_cast<std::size_t>(b)] = table.pin(b);
      if (!table.idle(b)) pins_.push_back(b);
    }
    std::ranges::stable_sort(pins_, {}, [&](int b) { return table.pin(b); });
  }

  std::optional<std::vector<Bytes>> run() {
    if (!index_.complete()) return std::nullopt;
    std::size_t left = order_.size();
    int ticks = 0;
    const int clock = clock_placements(pins_.size());
    while (left > 0) {
      if (++ticks % clock == 0 && budget_.exhausted()) return std::nullopt;
      const Skyline::Valley valley = skyline_.lowest();
      if (raise_pin(valley.height)) continue;
      wake(valley.height);
      const int rank = index_.least(valley.sections);
      if (rank == Index::kNone) {
        const Bytes wake_at = asleep_.empty() ? kRim : asleep_.top().first;
        const Bytes pin_at = next_pin_ == pins_.size() ? kRim : table_.pin(pins_[next_pin_]);
        skyline_.raise(valley, valley.sections, std::min({valley.rim, wake_at, pin_at}));
        continue;
      }
      index_.erase(rank);
      const int b = order_[static_cast<std::size_t>(rank)];
      const Bytes lowest = table_.aligned(b, valley.height);
      const Bytes offset = table_.any_pins() ? table_.clear_of_pins(b, lowest) : lowest;
      if (offset > lowest) {
        asleep_.push({offset, rank});
        continue;
      }
      offsets_[static_cast<std::size_t>(b)] = offset;
      skyline_.raise(valley, table_.hull(b), offset + table_.size(b));
      --left;
    }
    return offsets_;
  }

 private:
  // Adds the lowest pinned buffer to the skyline once the skyline has reached its offset. Returns
  // false if no pinned buffer is due.
  bool raise_pin(Bytes level) {
    if (next_pin_ == pins_.size() || table_.pin(pins_[next_pin_]) > level) return false;
    const int pin = pins_[next_pin_++];
    skyline_.raise_anywhere(table_.hull(pin), table_.pin(pin) + table_.size(pin));
    return true;
  }

  void wake(Bytes level) {
    while (!asleep_.empty() && asleep_.top().first <= level) {
      index_.insert(asleep_.top().second);
      asleep_.pop();
    }
  }

  const LayoutTable& table_;
  const std::vector<int>& order_;
  Skyline skyline_;
  const Budget& budget_;
  Index index_;
  std::vector<Bytes> offsets_;
  std::vector<int> pins_;  // pinned buffers, ascending by offset
  std::size_t next_pin_ = 0;
  std::priority_queue<std::pair<Bytes, int>, std::vector<std::pair<Bytes, int>>, std::greater<>>
      asleep_;  // height at which the buffer can be placed again, rank
};

}  // namespace

std::optional<std::vector<Bytes>> canonical_dive(const LayoutTable& table,
                                                 const std::vector<int>& order,
                                                 const Budget& budget) {
  ContainedIndex index(hulls(table, order), table.sections(), budget);
  return Dive(table, order, std::move(index), budget).run();
}

std::optional<std::vector<Bytes>> fullest_dive(const LayoutTable& table,
                                               const std::vector<int>& order,
                                               const std::vector<Bytes>& more, const Budget& budget,
                                               const FullestDiveParams& params) {
  std::vector<Bytes> sizes;
  sizes.reserve(order.size());
  for (const int b : order) sizes.push_back(table.size(b));
  NextBufferByLoad index(hulls(table, order), std::move(sizes), more, budget, params);
  return Dive(table, order, std::move(index), budget).run();
}

}  // namespace stowage
