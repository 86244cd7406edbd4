#include "heuristics/layout/slots.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "instances/radix_sort.h"
#include "instances/units.h"

namespace stowage {
namespace {

// The size of a buffer's slot: its four leading bits, rounded up, and a multiple of the alignment.
Bytes slot_size(const LayoutTable& table, int b) {
  const auto size = static_cast<std::uint64_t>(table.size(b));
  const int width = std::bit_width(size);
  const Bytes step = width > 4 ? Bytes{1} << (width - 4) : 1;
  return table.aligned(b, (table.size(b) + step - 1) / step * step);
}

// Slots of one size and alignment.
struct SlotClass {
  Bytes size = 0;
  Bytes alignment = 1;
  std::vector<Bytes> free;  // numbers of slots
  Bytes slots = 0;
  Bytes base = 0;
};

// Buffers by the section in which they begin or end.
std::vector<int> by_section(const LayoutTable& table, const std::vector<int>& buffers,
                            int SectionRange::*border) {
  std::vector<int> order = buffers;
  radix_sort(order, [&](int b) { return sort_key(std::int64_t{table.hull(b).*border}); });
  return order;
}

}  // namespace

std::optional<std::vector<Bytes>> lay_in_slots(const LayoutTable& table) {
  std::vector<Bytes> offsets(static_cast<std::size_t>(table.buffers()), 0);
  Bytes top = 0;
  struct Sized {
    Bytes slot = 0;
    Bytes alignment = 1;
    int buffer = 0;
  };
  std::vector<Sized> sized;
  std::vector<int> buffers;
  for (int b = 0; b < table.buffers(); ++b) {
    if (table.pinned(b)) {
      offsets[static_cast<std::size_t>(b)] = table.pin(b);
      top = std::max(top, table.pin(b) + table.size(b));
    } else if (!table.idle(b)) {
      sized.push_back({slot_size(table, b), table.alignment(b), b});
      buffers.push_back(b);
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
    class_of[static_cast<std::size_t>(s.buffer)] = classes.size() - 1;
  }

  const std::vector<int> ending = by_section(table, buffers, &SectionRange::last);
  auto end = ending.begin();
  for (const int b : by_section(table, buffers, &SectionRange::first)) {
    for (; table.hull(*end).last <= table.hull(b).first; ++end) {
      const auto gone = static_cast<std::size_t>(*end);
      classes[class_of[gone]].free.push_back(offsets[gone]);
    }
    SlotClass& own = classes[class_of[static_cast<std::size_t>(b)]];
    Bytes& slot = offsets[static_cast<std::size_t>(b)];  // its number, for now
    if (own.free.empty()) {
      slot = own.slots++;
    } else {
      slot = own.free.back();
      own.free.pop_back();
    }
  }

  for (SlotClass& own : classes) {
    const auto whole = checked_mul(own.size, own.slots);
    own.base = (top + own.alignment - 1) / own.alignment * own.alignment;
    if (!whole || own.base > kMaxExact - *whole) return std::nullopt;
    top = own.base + *whole;
  }
  for (const int b : buffers) {
    const auto i = static_cast<std::size_t>(b);
    const SlotClass& own = classes[class_of[i]];
    offsets[i] = own.base + offsets[i] * own.size;
  }
  return offsets;
}

}  // namespace stowage
