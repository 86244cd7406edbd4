#include "heuristics/layout/construct/size_class_layout.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "instances/layout/load.h"
#include "instances/numeric/numbers.h"
#include "instances/numeric/radix_sort.h"
#include "instances/units.h"

namespace stowage {
namespace {

Bytes up_to_multiple(Bytes value, Bytes step) {
  return step == 1 ? value : (value + step - 1) / step * step;
}

// Numbers of leading bits that define the size classes. Fewer bits give fewer classes: sizes are
// rounded up further, but each class has more buffers, so that fewer slots stay empty.
constexpr int kLeadingBits[] = {4, 2, 1};

// Returns the size of a buffer's slot: the size rounded up to `bits` leading bits and to a multiple
// of the alignment.
Bytes slot_size(Bytes size, Bytes alignment, int bits) {
  const int width = std::bit_width(static_cast<std::uint64_t>(size));
  return up_to_multiple(up_to_multiple(size, width > bits ? Bytes{1} << (width - bits) : 1),
                        alignment);
}

// Slots of one size and one alignment.
struct SlotClass {
  Bytes size = 0;
  Bytes alignment = 1;
  std::vector<Bytes> free;  // indices of free slots
  Bytes slots = 0;
  Bytes base = 0;
};

// Returns the buffers sorted by the step at which they begin or end.
std::vector<int> by_step(const LayoutInstance& instance, const std::vector<int>& buffers,
                         std::int64_t Buffer::*border) {
  std::vector<int> order = buffers;
  radix_sort(order, [&](int b) { return sort_key(instance.buffers[at(b)].*border); });
  return order;
}

struct Slots {
  std::vector<Bytes> offsets;
  Bytes top = 0;
};

// Returns the layout with size classes of `bits` leading bits, or nullopt if it would end beyond
// kMaxExact.
std::optional<Slots> size_class_layout(const LayoutInstance& instance, int bits) {
  std::vector<Bytes> offsets(instance.buffers.size(), 0);
  Bytes top = 0;
  struct Sized {
    Bytes slot = 0;
    Bytes alignment = 1;
    int buffer = 0;
  };
  std::vector<Sized> sized;
  std::vector<int> buffers;
  for (std::size_t b = 0; b < offsets.size(); ++b) {
    const Buffer& buffer = instance.buffers[b];
    if (buffer.offset) {
      offsets[b] = *buffer.offset;
      top = std::max(top, *buffer.offset + buffer.size);
    } else if (buffer.size > 0) {
      const Bytes alignment = alignment_of(instance, buffer);
      sized.push_back({slot_size(buffer.size, alignment, bits), alignment, static_cast<int>(b)});
      buffers.push_back(static_cast<int>(b));
    }
  }
  radix_sort(sized, [](const Sized& s) { return sort_key(s.alignment); });
  radix_sort(sized, [](const Sized& s) { return sort_key(s.slot); });
  std::vector<SlotClass> classes;
  std::vector<std::size_t> class_of(offsets.size());
  for (const Sized& s : sized) {
    if (classes.empty() || classes.back().size != s.slot ||
        classes.back().alignment != s.alignment) {
      classes.push_back({.size = s.slot, .alignment = s.alignment, .free = {}});
    }
    class_of[at(s.buffer)] = classes.size() - 1;
  }

  const std::vector<int> ending = by_step(instance, buffers, &Buffer::upper);
  auto end = ending.begin();
  for (const int b : by_step(instance, buffers, &Buffer::lower)) {
    for (; instance.buffers[at(*end)].upper <= instance.buffers[at(b)].lower; ++end) {
      const std::size_t gone = at(*end);
      classes[class_of[gone]].free.push_back(offsets[gone]);
    }
    SlotClass& own = classes[class_of[at(b)]];
    Bytes& slot = offsets[at(b)];  // index of the slot, until the classes have their bases
    if (own.free.empty()) {
      slot = own.slots++;
    } else {
      slot = own.free.back();
      own.free.pop_back();
    }
  }

  for (SlotClass& own : classes) {
    const auto whole = checked_mul(own.size, own.slots);
    own.base = up_to_multiple(top, own.alignment);
    if (!whole || own.base > kMaxExact - *whole) return std::nullopt;
    top = own.base + *whole;
  }
  for (const int b : buffers) {
    const SlotClass& own = classes[class_of[at(b)]];
    offsets[at(b)] = own.base + offsets[at(b)] * own.size;
  }
  return Slots{std::move(offsets), top};
}

}  // namespace

std::optional<std::vector<Bytes>> size_class_layout(const LayoutInstance& instance) {
  std::optional<Slots> best;
  for (const int bits : kLeadingBits) {
    std::optional<Slots> slots = size_class_layout(instance, bits);
    if (slots && (!best || slots->top < best->top)) best = std::move(slots);
  }
  if (!best) return std::nullopt;
  return std::move(best->offsets);
}

}  // namespace stowage
