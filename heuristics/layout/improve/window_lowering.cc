#include "heuristics/layout/improve/window_lowering.h"

#include <algorithm>
#include <optional>
#include <queue>
#include <utility>

#include "heuristics/layout/improve/reinsertion.h"
#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

// The buffers of any range of sections, by buckets of consecutive sections.
class BuffersByTime {
 public:
  explicit BuffersByTime(const LayoutTable& table) : table_(table) {
    std::int64_t sections = 0;
    for (int b = 0; b < table.buffers(); ++b) {
      sections += table.hull(b).last - table.hull(b).first;
    }
    // A bucket has as many sections as a buffer has on average, so that each buffer is in few
    // buckets.
    width_ = static_cast<int>(1 + sections / std::max(1, table.buffers()));
    buckets_.resize(at(table.sections() / width_ + 1));
    for (int b = 0; b < table.buffers(); ++b) {
      if (table.idle(b)) continue;
      const SectionRange hull = table.hull(b);
      for (int k = hull.first / width_; k <= (hull.last - 1) / width_; ++k) {
        buckets_[at(k)].push_back(b);
      }
    }
  }

  // Returns the buffers that are alive in the sections, each once.
  std::vector<int> in(SectionRange window) const {
    std::vector<int> all;
    const int first = window.first / width_;
    for (int k = first; k <= (window.last - 1) / width_; ++k) {
      for (const int b : buckets_[at(k)]) {
        const SectionRange hull = table_.hull(b);
        if (hull.first >= window.last || hull.last <= window.first) continue;
        if (k == std::max(first, hull.first / width_)) all.push_back(b);
      }
    }
    return all;
  }
  int width() const { return width_; }

 private:
  const LayoutTable& table_;
  int width_ = 1;
  std::vector<std::vector<int>> buckets_;
};

bool inside(SectionRange hull, SectionRange window) {
  return hull.first >= window.first && hull.last <= window.last;
}

// Returns the instance of a window. Buffers that cross a border are pinned.
LayoutInstance window_of(const LayoutTable& table, const std::vector<int>& buffers,
                         SectionRange window, const std::vector<Bytes>& offsets) {
  LayoutInstance instance;
  for (const int b : buffers) {
    Buffer buffer{.lower = -1, .upper = 0, .size = table.size(b), .alignment = table.alignment(b)};
    for (const SectionRange& range : table.ranges(b)) {
      const std::int64_t first = std::max(range.first, window.first) - window.first;
      const std::int64_t last = std::min(range.last, window.last) - window.first;
      if (first >= last) continue;
      if (buffer.lower < 0) buffer.lower = first;
      if (buffer.upper > 0 && buffer.upper < first) buffer.gaps.push_back({buffer.upper, first});
      buffer.upper = last;
    }
    if (buffer.lower < 0) buffer = {.upper = 1};  // in a gap during the whole window
    if (!inside(table.hull(b), window)) buffer.offset = offsets[at(b)];
    instance.buffers.push_back(std::move(buffer));
  }
  return instance;
}

}  // namespace

std::vector<Bytes> lower_windows(const LayoutTable& table, std::vector<Bytes> offsets,
                                 const ImproveOptions& options, Budget& budget,
                                 const BetterLayout& tell) {
  const Bytes enough = std::max(options.enough, table.max_load());
  const BuffersByTime by_time(table);
  const auto end_of = [&](int b) { return table.idle(b) ? 0 : offsets[at(b)] + table.size(b); };
  // Buffers by their ends; entries of earlier layouts are passed over.
  std::priority_queue<std::pair<Bytes, int>> ends;
  for (int b = 0; b < table.buffers(); ++b) ends.push({end_of(b), b});
  Bytes told = table.peak(offsets);
  std::uint64_t draws = 0;
  std::ptrdiff_t wanted = layout_fixed::kWindowBuffers;  // buffers inside the next window
  std::int64_t effort = 1;  // length of a turn, as a ratio to the first
  while (!budget.exhausted()) {
    while (!ends.empty() && ends.top().first != end_of(ends.top().second)) ends.pop();
    if (ends.empty()) break;
    const auto [peak, highest] = ends.top();
    if (peak < told) {
      told = peak;
      tell(offsets);
      wanted = layout_fixed::kWindowBuffers;
      effort = 1;
    }
    if (peak <= enough) break;
    const SectionRange hull = table.hull(highest);
    std::vector<int> buffers;
    SectionRange window;
    for (int reach = by_time.width();; reach *= 2) {
      window = {std::max(0, hull.first - reach), std::min(table.sections(), hull.last + reach)};
      buffers = by_time.in(window);
      const bool all = window.first == 0 && window.last == table.sections();
      const auto is_inside = [&](int b) { return inside(table.hull(b), window); };
      if (all || std::ranges::count_if(buffers, is_inside) >= wanted) break;
    }
    if (std::ssize(buffers) > options.params.reinsertion.buffers) {
      if (effort >= layout_fixed::kLongestWindow || wanted == layout_fixed::kWindowBuffers) break;
      effort *= 4;
      wanted = layout_fixed::kWindowBuffers;
      continue;
    }
    const LayoutTable part(window_of(table, buffers, window, offsets));
    std::vector<Bytes> before;
    for (const int b : buffers) before.push_back(offsets[at(b)]);
    Reinsertion reinsertion(part, options.seed + ++draws, options.params.reinsertion);
    const std::int64_t visits = effort * options.params.window.visits * std::ssize(buffers);
    const Bytes target = std::max(enough, part.max_load());
    const std::vector<Bytes> after = reinsertion.lower(before, target, visits, budget);
    if (part.peak(after) < peak) {
      for (std::size_t k = 0; k < buffers.size(); ++k) {
        if (after[k] == before[k] || part.idle(static_cast<int>(k))) continue;
        offsets[at(buffers[k])] = after[k];
        ends.push({end_of(buffers[k]), buffers[k]});
      }
    } else {
      wanted *= 2;
    }
  }
  return offsets;
}

}  // namespace stowage
