#include "solvers/layout/tight_fit.h"

#include <algorithm>

#include "instances/numeric/numbers.h"

namespace stowage {
void put_flush_first(const LayoutTable& table, const LayoutState& state, SectionRange sections,
                     Bytes level, std::span<int> candidates) {
  std::size_t chosen = 0;
  int most = -1;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const SectionRange hull = table.hull(candidates[i]);
    const Bytes top = level + state.size(candidates[i]);
    int score = 0;
    // A side beside a higher neighbour scores 2, and a top at the height of a neighbour's top
    // scores 1.
    const auto look_beside = [&](bool end, int section) {
      if (end || state.top(section) > level) score += 2;
      if (!end && state.top(section) == top) ++score;
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
