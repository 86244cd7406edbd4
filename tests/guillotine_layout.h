// Layout instances with a known and tight optimum. A rectangle of time x address is cut into
// pieces, and each piece is a buffer. So the peak of the best layout is the rectangle's height, and
// every byte is in use at every step.
#pragma once

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "instances/layout/instance.h"
#include "instances/numeric/random.h"

namespace stowage {

// `steps` and `height` must be at least `pieces`. Buffers come in random order.
inline LayoutInstance guillotine_layout(std::uint64_t seed, int pieces, std::int64_t steps,
                                        Bytes height) {
  std::mt19937_64 random(seed);
  struct Piece {
    std::int64_t lower, upper;
    Bytes bottom, top;
  };
  std::vector<Piece> all = {{0, steps, 0, height}};
  while (static_cast<int>(all.size()) < pieces) {
    // Chooses the largest of three random pieces, so that pieces have similar but not equal areas.
    std::size_t chosen = draw(random, all.size());
    const auto area = [&](std::size_t i) {
      return static_cast<double>(all[i].upper - all[i].lower) *
             static_cast<double>(all[i].top - all[i].bottom);
    };
    for (int again = 0; again < 2; ++again) {
      const std::size_t other = draw(random, all.size());
      if (area(other) > area(chosen)) chosen = other;
    }
    Piece& piece = all[chosen];
    Piece rest = piece;
    const auto cut = [&](std::int64_t from, std::int64_t to) {
      return from + 1 +
             static_cast<std::int64_t>(draw(random, static_cast<std::uint64_t>(to - from - 1)));
    };
    const bool in_time = draw(random, 2) == 0;
    if (in_time && piece.upper - piece.lower >= 2) {
      piece.upper = rest.lower = cut(piece.lower, piece.upper);
    } else if (!in_time && piece.top - piece.bottom >= 2) {
      piece.top = rest.bottom = cut(piece.bottom, piece.top);
    } else {
      continue;
    }
    all.push_back(rest);
  }
  for (std::size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[draw(random, i)]);
  LayoutInstance instance{.name = "guillotine-" + std::to_string(seed)};
  for (const Piece& piece : all) {
    instance.buffers.push_back(
        {.lower = piece.lower, .upper = piece.upper, .size = piece.top - piece.bottom});
  }
  return instance;
}

}  // namespace stowage
