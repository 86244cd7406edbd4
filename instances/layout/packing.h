// Seeded hard packings: layouts that fill their capacity, or nearly, in ways that planners meet.
//
// A packing is made as a tiling of time x address, so that it is known to fit; then some buffers go
// or end early. The seed draws everything: how many buffers (about 100 to 500), how sizes and
// lifetimes spread, how coarse sizes are, how much is taken away, and whether the capacity is what
// the tiling needs (half of them) or up to 4 % above.
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
    ring,      // a cursor runs round and round, what it meets ends there
    window,    // neighbours of like age make room for the next ones, of like size
    stack,     // layers are pushed and popped, short-lived buffers fill the room above
    sections,  // every section is full: sizes over three orders of magnitude, some live long
  };
  static constexpr std::string_view kNames[] = {"blocks", "ring", "window", "stack", "sections"};

  Kind kind = Kind::blocks;
  std::uint64_t seed = 0;
};

// Some layout has a peak of the capacity at most.
LayoutInstance generate_packing(const PackingGenerator& generator);

}  // namespace stowage
