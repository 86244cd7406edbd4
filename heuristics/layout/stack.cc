#include "heuristics/layout/stack.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "instances/layout/load.h"
#include "instances/numbers.h"
#include "instances/random.h"
#include "instances/ticker.h"

namespace stowage {
namespace {

constexpr double kHot = 0.02;  // noise at the start, relative to the peak
constexpr double kCold = 0.0005;
constexpr std::int64_t kClockSections = 1 << 18;  // looked at between two looks at the clock
constexpr std::uint64_t kCriticalOf10 = 5;  // so many of ten moves take a buffer of a longest path

// Heights over the sections, raised buffer by buffer.
class Heights {
 public:
  explicit Heights(const LayoutTable& table)
      : table_(table), height_(static_cast<std::size_t>(table.sections()), 0) {}

  void clear() { std::ranges::fill(height_, 0); }

  // What one buffer costs, in sections looked at.
  std::int64_t visits(int b) const { return 4 + 2 * (table_.hull(b).last - table_.hull(b).first); }

  Bytes over(int b) const {
    Bytes most = 0;
    for (const SectionRange& range : table_.ranges(b)) {
      for (int s = range.first; s < range.last; ++s) most = std::max(most, at(s));
    }
    return most;
  }

  void set(int b, Bytes height) {
    for (const SectionRange& range : table_.ranges(b)) {
      for (int s = range.first; s < range.last; ++s) {
        height_[static_cast<std::size_t>(s)] = height;
      }
    }
  }

 private:
  Bytes at(int s) const { return height_[static_cast<std::size_t>(s)]; }

  const LayoutTable& table_;
  std::vector<Bytes> height_;
};

// Nothing if the budget ends first.
std::optional<std::vector<Bytes>> stack(const LayoutTable& table, const std::vector<int>& order,
                                        Heights& heights, Ticker& ticker) {
  std::vector<Bytes> offsets(static_cast<std::size_t>(table.buffers()), 0);
  for (int b = 0; b < table.buffers(); ++b) {
    if (table.pinned(b)) offsets[static_cast<std::size_t>(b)] = table.pin(b);
  }
  heights.clear();
  for (const int b : order) {
    const Bytes offset = table.clear_of_pins(b, heights.over(b));
    offsets[static_cast<std::size_t>(b)] = offset;
    heights.set(b, offset + table.size(b));
    if (ticker.exhausted(heights.visits(b))) return std::nullopt;
  }
  return offsets;
}

class Annealing {
 public:
  Annealing(const LayoutTable& table, std::vector<Bytes> offsets, std::uint64_t seed)
      : table_(table), heights_(table), random_(seed), best_(std::move(offsets)) {
    const auto n = static_cast<std::size_t>(table.buffers());
    below_.assign(n, 0);
    above_.assign(n, 0);
    peak_ = table.peak(best_);
    for (int b = 0; b < table.buffers(); ++b) {
      if (!table.pinned(b) && !table.idle(b)) order_.push_back(b);
    }
    std::ranges::stable_sort(order_, {}, [&](int b) { return best_[static_cast<std::size_t>(b)]; });
  }

  std::vector<Bytes> run(std::int64_t moves, const Budget& budget) {
    if (order_.size() < 2) return best_;
    Ticker ticker(budget, kClockSections);
    for (std::int64_t move = 0; move < moves && peak_ > table_.max_load(); ++move) {
      if (budget.exhausted()) break;
      const double done = static_cast<double>(move) / static_cast<double>(moves);
      noise_ = static_cast<double>(peak_) * kHot * std::pow(kCold / kHot, done);
      take_out();
      if (!measure(ticker)) break;
      if (put_back() < peak_ && !keep_if_better(ticker)) break;
    }
    return best_;
  }

 private:
  Bytes below(int b) const { return below_[static_cast<std::size_t>(b)]; }
  Bytes above(int b) const { return above_[static_cast<std::size_t>(b)]; }

  // Mostly one of the longest path, as far as the last move tells.
  void take_out() {
    std::size_t chosen = draw(random_, order_.size());
    if (draw(random_, 10) < kCriticalOf10) {
      std::size_t seen = 0;
      for (std::size_t i = 0; i < order_.size(); ++i) {
        const int b = order_[i];
        if (below(b) + table_.size(b) + above(b) < longest_) continue;
        if (draw(random_, ++seen) == 0) chosen = i;
      }
    }
    taken_ = order_[chosen];
    order_.erase(order_.begin() + static_cast<std::ptrdiff_t>(chosen));
  }

  // The longest paths below and above each buffer but the taken one. False if the budget ends
  // first.
  bool measure(Ticker& ticker) {
    longest_ = 0;
    heights_.clear();
    for (const int b : order_) {
      const Bytes offset = table_.clear_of_pins(b, heights_.over(b));
      below_[static_cast<std::size_t>(b)] = offset;
      heights_.set(b, offset + table_.size(b));
      longest_ = std::max(longest_, offset + table_.size(b));
      if (ticker.exhausted(heights_.visits(b))) return false;
    }
    heights_.clear();
    for (std::size_t i = order_.size(); i-- > 0;) {
      const int b = order_[i];
      above_[static_cast<std::size_t>(b)] = heights_.over(b);
      heights_.set(b, above(b) + table_.size(b));
      if (ticker.exhausted(heights_.visits(b))) return false;
    }
    return true;
  }

  bool meets_taken(int b) const {
    const SectionRange mine = table_.hull(taken_);
    const SectionRange other = table_.hull(b);
    if (mine.first >= other.last || other.first >= mine.last) return false;
    return !table_.any_gaps() || table_.conflict(taken_, b);
  }

  // Returns the longest path with the buffer back in the order; exact without alignment and pins.
  Bytes put_back() {
    // What lies above if the buffer goes before position i, from the last position downwards.
    cover_.assign(order_.size() + 1, 0);
    for (std::size_t i = order_.size(); i-- > 0;) {
      const int b = order_[i];
      cover_[i] =
          meets_taken(b) ? std::max(cover_[i + 1], above(b) + table_.size(b)) : cover_[i + 1];
    }
    Bytes top = 0;
    Bytes through = 0;
    double least = kInfinity;
    std::size_t position = 0;
    for (std::size_t i = 0; i <= order_.size(); ++i) {
      // Positions between two neighbours are all the same: look only before a neighbour.
      const bool last = i == order_.size();
      if (!last && !meets_taken(order_[i])) continue;
      const Bytes offset = table_.clear_of_pins(taken_, top);
      const Bytes length = offset + table_.size(taken_) + cover_[i];
      const double score = static_cast<double>(std::max(length, longest_)) -
                           noise_ * std::log(1 - draw_unit(random_));
      if (score < least) {
        least = score;
        position = i;
        through = length;
        below_[static_cast<std::size_t>(taken_)] = offset;
        above_[static_cast<std::size_t>(taken_)] = cover_[i];
      }
      if (!last) top = std::max(top, below(order_[i]) + table_.size(order_[i]));
    }
    order_.insert(order_.begin() + static_cast<std::ptrdiff_t>(position), taken_);
    longest_ = std::max(longest_, through);
    return longest_;
  }

  // False if the budget ends first.
  bool keep_if_better(Ticker& ticker) {
    const auto offsets = stack(table_, order_, heights_, ticker);
    if (!offsets) return false;
    const Bytes peak = table_.peak(*offsets);
    if (peak >= peak_) return true;
    peak_ = peak;
    best_ = *offsets;
    return true;
  }

  const LayoutTable& table_;
  Heights heights_;
  std::mt19937_64 random_;
  std::vector<Bytes> best_;
  Bytes peak_ = 0;
  std::vector<int> order_;
  std::vector<Bytes> below_;  // longest path that ends below the buffer: its offset
  std::vector<Bytes> above_;  // longest path that begins above it
  std::vector<Bytes> cover_;
  Bytes longest_ = 0;
  int taken_ = -1;
  double noise_ = 0;
};

}  // namespace

std::vector<Bytes> anneal_stack(const LayoutTable& table, std::vector<Bytes> offsets,
                                std::int64_t moves, std::uint64_t seed, const Budget& budget) {
  return Annealing(table, std::move(offsets), seed).run(moves, budget);
}

std::optional<std::vector<Bytes>> pile(const LayoutInstance& instance) {
  std::vector<Bytes> offsets(instance.buffers.size(), 0);
  struct Range {
    Bytes begin = 0;
    Bytes end = 0;
  };
  std::vector<Range> pins;
  for (std::size_t b = 0; b < offsets.size(); ++b) {
    const Buffer& buffer = instance.buffers[b];
    if (!buffer.offset) continue;
    offsets[b] = *buffer.offset;
    pins.push_back({*buffer.offset, *buffer.offset + buffer.size});
  }
  std::ranges::sort(pins, {}, &Range::begin);
  auto pin = pins.begin();  // the first that is not below what was piled up
  Bytes top = 0;
  for (std::size_t b = 0; b < offsets.size(); ++b) {
    const Buffer& buffer = instance.buffers[b];
    if (buffer.offset) continue;
    const Bytes alignment = alignment_of(instance, buffer);
    const auto aligned = [&] { return (top + alignment - 1) / alignment * alignment; };
    Bytes offset = aligned();
    for (; pin != pins.end() && pin->begin < offset + buffer.size; ++pin) {
      top = std::max(top, pin->end);
      offset = aligned();
    }
    if (offset > kMaxExact - buffer.size) return std::nullopt;
    offsets[b] = offset;
    top = offset + buffer.size;
  }
  return offsets;
}

}  // namespace stowage
