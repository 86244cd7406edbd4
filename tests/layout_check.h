// Checks a layout directly by the definition, without sections, for tests that must not rely on the
// tables under test.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "instances/layout/instance.h"

namespace stowage {

inline bool needs_memory(const Buffer& buffer, std::int64_t step) {
  if (step < buffer.lower || step >= buffer.upper) return false;
  for (const Lifetime& gap : buffer.gaps) {
    if (gap.lower <= step && step < gap.upper) return false;
  }
  return true;
}

// Two sets of steps intersect only if they do so at the start of a piece of one of them.
inline bool alive_together(const Buffer& a, const Buffer& b) {
  std::vector<std::int64_t> starts = {a.lower, b.lower};
  for (const Lifetime& gap : a.gaps) starts.push_back(gap.upper);
  for (const Lifetime& gap : b.gaps) starts.push_back(gap.upper);
  for (const std::int64_t step : starts) {
    if (needs_memory(a, step) && needs_memory(b, step)) return true;
  }
  return false;
}

// Returns the fault of a layout with this peak, or an empty string for a valid layout.
inline std::string layout_fault(const LayoutInstance& instance, const std::vector<Bytes>& offsets,
                                Bytes peak) {
  const std::vector<Buffer>& buffers = instance.buffers;
  if (offsets.size() != buffers.size()) return "wrong number of offsets";
  Bytes highest = 0;
  for (std::size_t a = 0; a < buffers.size(); ++a) {
    const std::string name = "buffer " + std::to_string(a);
    if (offsets[a] < 0) return name + " below 0";
    if (offsets[a] % buffers[a].alignment != 0) return name + " not aligned";
    if (offsets[a] % instance.alignment != 0) return name + " not aligned with the instance";
    if (buffers[a].offset && offsets[a] != *buffers[a].offset) return name + " not at its pin";
    highest = std::max(highest, offsets[a] + buffers[a].size);
    for (std::size_t b = 0; b < a; ++b) {
      const bool apart = offsets[a] + buffers[a].size <= offsets[b] ||
                         offsets[b] + buffers[b].size <= offsets[a] || buffers[a].size == 0 ||
                         buffers[b].size == 0;
      if (!apart && alive_together(buffers[a], buffers[b])) {
        return name + " overlaps buffer " + std::to_string(b);
      }
    }
  }
  if (highest != peak) return "peak " + std::to_string(highest);
  if (instance.capacity && peak > *instance.capacity) return "above the capacity";
  return "";
}

}  // namespace stowage
