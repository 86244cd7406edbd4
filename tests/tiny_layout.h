// Random layout instances small enough for brute force, with every special feature enabled in some
// of them: alignments that are no powers of two or exceed the size, pinned buffers, gaps, size 0,
// twins, capacities too small.
#pragma once

#include <random>
#include <string>

#include "instances/layout/instance.h"
#include "instances/numeric/random.h"

namespace stowage {

// At most `most_buffers` buffers. Pinned buffers may overlap each other.
inline LayoutInstance tiny_layout(std::uint64_t seed, std::uint64_t most_buffers = 7) {
  std::mt19937_64 random(seed);
  const auto up_to = [&](std::int64_t bound) {
    return static_cast<std::int64_t>(draw(random, static_cast<std::uint64_t>(bound) + 1));
  };
  LayoutInstance instance{.name = "tiny-" + std::to_string(seed)};
  const bool alignments = up_to(2) == 0;
  const bool pins = up_to(2) == 0;
  const bool gaps = up_to(2) == 0;
  const std::int64_t sizes = up_to(3) == 0 ? 3 : 20;
  const std::int64_t steps = 3 + up_to(12);
  if (alignments && up_to(1) == 0) instance.alignment = 1 + up_to(5);
  const auto count = draw(random, most_buffers + 1);
  while (instance.buffers.size() < count) {
    if (!instance.buffers.empty() && up_to(5) == 0) {  // a buffer equal to the previous one
      instance.buffers.push_back(instance.buffers.back());
      instance.buffers.back().offset.reset();
      continue;
    }
    Buffer buffer{.lower = up_to(steps - 1)};
    buffer.upper = buffer.lower + 1 + up_to(steps - buffer.lower - 1);
    buffer.size = up_to(30) == 0 ? 0 : 1 + up_to(sizes);
    if (alignments && up_to(1) == 0) buffer.alignment = 1 + up_to(9);
    if (pins && up_to(3) == 0) {
      const Bytes grid = instance.alignment * buffer.alignment;
      buffer.offset = up_to(40) / grid * grid;
    }
    if (gaps && up_to(1) == 0) {
      for (std::int64_t at = buffer.lower + up_to(2); at < buffer.upper && up_to(3) != 0;) {
        const std::int64_t end = std::min(buffer.upper, at + 1 + up_to(3));
        buffer.gaps.push_back({at, end});
        at = end + 1 + up_to(2);
      }
    }
    instance.buffers.push_back(buffer);
  }
  if (up_to(9) == 0) instance.capacity = up_to(60);
  return instance;
}

}  // namespace stowage
