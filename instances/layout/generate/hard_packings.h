// Seeded hard packings: layouts that fill their capacity, or nearly, in patterns that planners
// meet.
//
// A packing is made as a tiling of time x address, so that a layout within the capacity exists.
// Then some buffers are removed or end early. The seed decides everything: the number of buffers
// (about 100 to 500), the spread of sizes and lifetimes, the coarseness of sizes, the removed
// share, and whether the capacity is the height of the tiling (half of the seeds) or up to 4 %
// above.
//
//   const LayoutInstance packing = generate_packing({.kind = PackingGenerator::Kind::ring,
//                                                    .seed = 7});  // with a capacity
//
// The same parameters give the same instance everywhere.
#pragma once

#include <cstdint>
#include <string_view>

#include "instances/layout/instance.h"

namespace stowage {

struct PackingGenerator {
  enum class Kind {
    blocks,    // a rectangle cut edge to edge or as a pinwheel, slivers beside large pieces
    ring,      // a cursor goes round and round; buffers that it meets end there
    window,    // neighbours of similar age make room for the next, of similar size
    stack,     // layers are pushed and popped; short-lived buffers fill the room above
    sections,  // every section is full: sizes over three orders of magnitude, some live long
  };
  static constexpr std::string_view kNames[] = {"blocks", "ring", "window", "stack", "sections"};

  Kind kind = Kind::blocks;
  std::uint64_t seed = 0;
};

// Returns an instance with a layout whose peak is at most the capacity.
LayoutInstance generate_packing(const PackingGenerator& generator);

}  // namespace stowage
