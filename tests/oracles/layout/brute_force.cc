#include "tests/oracles/layout/brute_force.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace stowage {
namespace {

bool needs_memory(const Buffer& buffer, std::int64_t step) {
  return buffer.lower <= step && step < buffer.upper &&
         std::ranges::none_of(buffer.gaps, [&](const Lifetime& gap) {
           return gap.lower <= step && step < gap.upper;
         });
}

// Two sets of steps intersect only if they do so at the start of a piece of one of them.
bool together(const Buffer& a, const Buffer& b) {
  std::vector<std::int64_t> starts = {a.lower, b.lower};
  for (const Lifetime& gap : a.gaps) starts.push_back(gap.upper);
  for (const Lifetime& gap : b.gaps) starts.push_back(gap.upper);
  return std::ranges::any_of(
      starts, [&](std::int64_t step) { return needs_memory(a, step) && needs_memory(b, step); });
}

class Decoder {
 public:
  explicit Decoder(const LayoutInstance& instance)
      : instance_(instance), offsets_(instance.buffers.size(), 0) {
    for (std::size_t b = 0; b < offsets_.size(); ++b) {
      if (!instance.buffers[b].offset) continue;
      offsets_[b] = *instance.buffers[b].offset;
      pinned_.push_back(b);
    }
  }

  bool pins_clash() const {
    return std::ranges::any_of(pinned_, [&](std::size_t a) {
      return std::ranges::any_of(
          pinned_, [&](std::size_t b) { return a < b && overlap(a, offsets_[a], b); });
    });
  }

  const std::vector<Bytes>& decode(const std::vector<std::size_t>& order) {
    std::vector<std::size_t> there = pinned_;
    for (const std::size_t b : order) {
      offsets_[b] = lowest(b, there);
      there.push_back(b);
    }
    return offsets_;
  }

  Bytes peak() const {
    Bytes peak = 0;
    for (std::size_t b = 0; b < offsets_.size(); ++b) {
      peak = std::max(peak, offsets_[b] + instance_.buffers[b].size);
    }
    return peak;
  }

 private:
  bool overlap(std::size_t a, Bytes offset, std::size_t b) const {
    const Bytes size = instance_.buffers[a].size;
    const Bytes other = instance_.buffers[b].size;
    return size > 0 && other > 0 && offset < offsets_[b] + other && offsets_[b] < offset + size &&
           together(instance_.buffers[a], instance_.buffers[b]);
  }

  Bytes aligned(std::size_t b, Bytes offset) const {
    while (offset % instance_.buffers[b].alignment != 0 || offset % instance_.alignment != 0) {
      ++offset;
    }
    return offset;
  }

  // The lowest free offset is 0 or an aligned end of a buffer.
  Bytes lowest(std::size_t b, const std::vector<std::size_t>& there) const {
    std::vector<Bytes> starts = {0};
    for (const std::size_t other : there) {
      starts.push_back(aligned(b, offsets_[other] + instance_.buffers[other].size));
    }
    std::ranges::sort(starts);
    return *std::ranges::find_if(starts, [&](Bytes offset) {
      return std::ranges::none_of(there,
                                  [&](std::size_t other) { return overlap(b, offset, other); });
    });
  }

  const LayoutInstance& instance_;
  std::vector<Bytes> offsets_;
  std::vector<std::size_t> pinned_;
};

}  // namespace

std::optional<LayoutPlan> brute_force(const LayoutInstance& instance) {
  Decoder decoder(instance);
  if (decoder.pins_clash()) return std::nullopt;
  std::vector<std::size_t> order;
  for (std::size_t b = 0; b < instance.buffers.size(); ++b) {
    if (!instance.buffers[b].offset) order.push_back(b);
  }
  std::optional<LayoutPlan> best;
  do {
    const std::vector<Bytes>& offsets = decoder.decode(order);
    const Bytes peak = decoder.peak();
    if (best && best->peak_bytes <= peak) continue;
    if (instance.capacity && peak > *instance.capacity) continue;
    best = LayoutPlan{.name = instance.name, .peak_bytes = peak, .offsets = offsets};
  } while (std::ranges::next_permutation(order).found);
  return best;
}

}  // namespace stowage
