// Rectangles that stand for objects: sequences, passes, buffers. A canvas of a few hundred pixels
// may have millions of them, and the picture must stay small and true.
//
// Tiles that can be seen are drawn one by one, with an edge between neighbours. Smaller tiles are
// added up in cells. A cell takes the hue that covers most of it, is fainter if less of it is
// covered, and its tooltip states the number of its tiles. If there are too many visible tiles, the
// least visible size is raised.
//
//   std::vector<Tile> tiles = ...;
//   const Merged merged = draw_tiles(svg, plot, tiles, "sequences",
//                                    [&](std::int64_t item) { return "sequence " + ...; });
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "instances/pictures/drawing/svg.h"

namespace stowage {

struct Tile {
  Box box;
  std::size_t hue = 0;
  std::int64_t item = 0;  // argument of title()
  bool pinned = false;    // drawn with an edge of ink
};

struct Merged {
  std::int64_t tiles = 0;  // number that was added up in cells
  double below = 0;        // px: limit of their width or height
};

inline constexpr std::size_t kMaxShapes = 12'000;  // most visible tiles, and cells, of one call

// Draws tiles that lie inside `plot`. Tiles without width or height are not drawn. O(tiles).
Merged draw_tiles(Svg& svg, const Box& plot, const std::vector<Tile>& tiles, std::string_view noun,
                  const std::function<ShapeTitle(std::int64_t)>& title,
                  std::size_t most_shapes = kMaxShapes);

// Returns "83 120 buffers narrower or lower than 0.5 px are merged: ..."; empty if none were
// merged.
std::string to_string(const Merged& merged, std::string_view noun);

}  // namespace stowage
