#include "heuristics/layout/construct/stack_all.h"

#include <algorithm>

#include "instances/layout/load.h"
#include "instances/numeric/numbers.h"

namespace stowage {

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
  auto pin = pins.begin();  // the first pinned buffer that the stack has not passed
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
