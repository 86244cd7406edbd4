#include "heuristics/layout/construct/circular_next_fit.h"

#include <map>

#include "heuristics/layout/construct/buffer_orders.h"
#include "heuristics/layout/params.h"
#include "instances/numeric/numbers.h"
#include "instances/numeric/radix_sort.h"
#include "instances/ticker.h"

namespace stowage {
namespace {

class Ring {
 public:
  explicit Ring(const LayoutTable& table, Bytes ring) : table_(table), ring_(ring) {
    gaps_[0] = kMaxExact;
  }

  // Returns the offset of the buffer and marks its bytes as used.
  Bytes take(int b) {
    std::optional<Bytes> offset = within(b, cursor_, kMaxExact);
    if (!offset) offset = within(b, 0, cursor_);
    if (!offset) offset = lowest(b);
    const auto gap = std::prev(gaps_.upper_bound(*offset));
    const Bytes begin = gap->first;
    const Bytes end = gap->second;
    cursor_ = *offset + table_.size(b);
    gaps_.erase(gap);
    if (begin < *offset) gaps_[begin] = *offset;
    if (cursor_ < end) gaps_[cursor_] = end;
    return *offset;
  }

  void give_back(Bytes begin, Bytes end) {
    auto after = gaps_.lower_bound(begin);
    if (after != gaps_.end() && after->first == end) {
      end = after->second;
      after = gaps_.erase(after);
    }
    if (after != gaps_.begin() && std::prev(after)->second == begin) {
      std::prev(after)->second = end;
    } else {
      gaps_[begin] = end;
    }
  }

  std::int64_t looked_at() const { return looked_at_; }

 private:
  // Returns the first offset from `from` on at which the buffer ends within the ring, in a gap that
  // begins before `to`. Returns nullopt if no gap is large enough.
  std::optional<Bytes> within(int b, Bytes from, Bytes to) {
    auto gap = gaps_.upper_bound(from);
    if (gap != gaps_.begin()) --gap;
    for (; gap != gaps_.end() && gap->first < to; ++gap) {
      ++looked_at_;
      const Bytes offset = table_.aligned(b, std::max(gap->first, from));
      if (offset + table_.size(b) > ring_) return std::nullopt;
      if (offset + table_.size(b) <= gap->second) return offset;
    }
    return std::nullopt;
  }

  Bytes lowest(int b) {
    for (auto gap = gaps_.begin();; ++gap) {
      ++looked_at_;
      const Bytes offset = table_.aligned(b, gap->first);
      if (offset + table_.size(b) <= gap->second) return offset;
    }
  }

  const LayoutTable& table_;
  const Bytes ring_;
  std::map<Bytes, Bytes> gaps_;  // begin and end of each gap; the last gap is unbounded
  Bytes cursor_ = 0;
  std::int64_t looked_at_ = 0;
};

}  // namespace

std::optional<std::vector<Bytes>> lay_round_a_ring(const LayoutTable& table, Bytes ring,
                                                   const Budget& budget) {
  if (table.any_pins()) return std::nullopt;
  std::vector<int> order = static_order(table, "LW");
  // The first section of a buffer's hull can differ from its lower step, because a lifetime may
  // begin with a gap.
  radix_sort(order, [&](int b) { return sort_key(std::int64_t{table.hull(b).first}); });
  std::vector<int> ending = order;
  radix_sort(ending, [&](int b) { return sort_key(std::int64_t{table.hull(b).last}); });
  std::vector<Bytes> offsets(at(table.buffers()), 0);
  Ring round(table, ring);
  PollEvery ticker(budget, layout_fixed::kClockGaps);
  auto gone = ending.begin();
  std::int64_t seen = 0;
  for (const int b : order) {
    for (; table.hull(*gone).last <= table.hull(b).first; ++gone) {
      round.give_back(offsets[at(*gone)], offsets[at(*gone)] + table.size(*gone));
    }
    offsets[at(b)] = round.take(b);
    if (round.looked_at() > layout_fixed::kGapsPerBuffer * table.buffers()) return std::nullopt;
    if (ticker.exhausted(4 + round.looked_at() - seen)) return std::nullopt;
    seen = round.looked_at();
  }
  return offsets;
}

}  // namespace stowage
