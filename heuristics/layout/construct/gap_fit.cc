#include "heuristics/layout/construct/gap_fit.h"

#include <algorithm>

#include "heuristics/layout/params.h"

namespace stowage {
namespace {

// A placed buffer with the values that a scan over all placed buffers reads.
struct Placed {
  Bytes offset = 0;
  Bytes end = 0;
  SectionRange hull;
  int buffer = 0;
};

class Fit {
 public:
  explicit Fit(const LayoutTable& table)
      : table_(table), offsets_(static_cast<std::size_t>(table.buffers()), 0) {
    for (int b = 0; b < table.buffers(); ++b) {
      if (table.pinned(b)) put(b, table.pin(b));
    }
  }

  void put(int b, Bytes offset) {
    offsets_[static_cast<std::size_t>(b)] = offset;
    if (table_.idle(b)) return;
    const auto after = std::ranges::upper_bound(placed_, offset, {}, &Placed::offset);
    placed_.insert(after, {offset, offset + table_.size(b), table_.hull(b), b});
  }

  Bytes choose(int b, GapRule rule) const {
    const SectionRange hull = table_.hull(b);
    Bytes top = 0;  // start of the gap below the next placed buffer
    Bytes best = -1;
    Bytes best_gap = 0;
    for (const Placed& other : placed_) {
      if (other.hull.first >= hull.last || hull.first >= other.hull.last) continue;
      if (table_.any_gaps() && !table_.conflict(b, other.buffer)) continue;
      const Bytes offset = table_.aligned(b, top);
      if (offset + table_.size(b) <= other.offset) {
        const Bytes gap = other.offset - top;
        if (best < 0 || gap < best_gap) {
          best = offset;
          best_gap = gap;
        }
        if (rule == GapRule::lowest) return best;
      }
      top = std::max(top, other.end);
    }
    return best >= 0 ? best : table_.aligned(b, top);
  }

  std::int64_t placed() const { return std::ssize(placed_); }

  std::vector<Bytes>&& take() { return std::move(offsets_); }

 private:
  const LayoutTable& table_;
  std::vector<Placed> placed_;  // by offset
  std::vector<Bytes> offsets_;
};

}  // namespace

std::optional<std::vector<Bytes>> fit_in_order(const LayoutTable& table,
                                               const std::vector<int>& order, GapRule rule,
                                               const Budget& budget) {
  Fit fit(table);
  std::int64_t visits = layout_fixed::kClockVisits;
  for (const int b : order) {
    if (visits >= layout_fixed::kClockVisits) {
      if (budget.exhausted()) return std::nullopt;
      visits = 0;
    }
    visits += 1 + fit.placed();
    fit.put(b, fit.choose(b, rule));
  }
  return fit.take();
}

}  // namespace stowage
