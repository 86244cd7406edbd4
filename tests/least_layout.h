// Computes the least peak of a few buffers by brute force.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "instances/layout/planning_table.h"
#include "instances/numeric/numbers.h"

namespace stowage {

// Returns the least peak. Stacking the buffers in some order reaches it.
inline Bytes least_peak(const LayoutTable& table) {
  std::vector<int> order;
  std::vector<Bytes> offsets(at(table.buffers()), 0);
  for (int b = 0; b < table.buffers(); ++b) {
    if (table.pinned(b)) offsets[at(b)] = table.pin(b);
    if (!table.pinned(b) && !table.idle(b)) order.push_back(b);
  }
  Bytes least = std::numeric_limits<Bytes>::max();
  do {
    for (std::size_t i = 0; i < order.size(); ++i) {
      Bytes top = 0;
      for (std::size_t j = 0; j < i; ++j) {
        if (!table.conflict(order[i], order[j])) continue;
        top = std::max(top, offsets[at(order[j])] + table.size(order[j]));
      }
      offsets[at(order[i])] = table.clear_of_pins(order[i], top);
    }
    least = std::min(least, table.peak(offsets));
  } while (std::ranges::next_permutation(order).found);
  return least;
}

}  // namespace stowage
