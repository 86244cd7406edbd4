#include "solvers/layout/flush.h"

#include <algorithm>

#include "instances/numbers.h"

namespace stowage {
namespace {

constexpr int kFlushSide = 2;  // beside a higher neighbour
constexpr int kFlushTop = 1;   // as high as a neighbour

}  // namespace

void put_flush_first(const LayoutTable& table, const LayoutState& state, SectionRange sections,
                     Bytes level, std::span<int> candidates) {
  std::size_t chosen = 0;
  int most = -1;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const SectionRange hull = table.hull(candidates[i]);
    const Bytes top = level + state.size(candidates[i]);
    int score = 0;
    const auto look_beside = [&](bool end, int section) {
      if (end || state.top(section) > level) score += kFlushSide;
      if (!end && state.top(section) == top) score += kFlushTop;
    };
    look_beside(hull.first == sections.first, hull.first - 1);
    look_beside(hull.last == sections.last, hull.last);
    if (score <= most) continue;
    most = score;
    chosen = i;
  }
  std::rotate(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(chosen),
              candidates.begin() + static_cast<std::ptrdiff_t>(chosen) + 1);
}

}  // namespace stowage
