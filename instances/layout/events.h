// The steps at which buffers of a layout begin and stop to need their bytes, in order of time.
// load.h and planning_table.h use them. Not installed.
//
//   for (const LayoutEvent& event : layout_events(instance, [](const Buffer&) { return true; }))
//   ...
#pragma once

#include <cstdint>
#include <vector>

#include "instances/layout/instance.h"
#include "instances/numeric/radix_sort.h"

namespace stowage {

// Calls `visit` with every range of steps at which the buffer needs its bytes, ascending: its
// lifetime without the gaps.
template <class Visit>
void for_each_need(const Buffer& buffer, Visit&& visit) {
  std::int64_t from = buffer.lower;
  for (const Lifetime& gap : buffer.gaps) {
    if (from < gap.lower) visit(Lifetime{from, gap.lower});
    from = gap.upper;
  }
  if (from < buffer.upper) visit(Lifetime{from, buffer.upper});
}

struct LayoutEvent {
  std::int64_t step = 0;
  int buffer = 0;
  bool begins = false;
};

// Returns the events of the buffers for which `take` is true and that hold at least a byte. They
// are sorted by step, then ends before begins as lifetimes are half-open, then by buffer. Linear in
// the number of events. Requires at most 2^30 buffers.
template <class Take>
std::vector<LayoutEvent> layout_events(const LayoutInstance& instance, const Take& take) {
  std::vector<LayoutEvent> events;
  events.reserve(2 * instance.buffers.size());
  for (std::size_t b = 0; b < instance.buffers.size(); ++b) {
    const Buffer& buffer = instance.buffers[b];
    if (buffer.size == 0 || !take(buffer)) continue;
    for_each_need(buffer, [&](const Lifetime& need) {
      events.push_back({need.lower, static_cast<int>(b), true});
      events.push_back({need.upper, static_cast<int>(b), false});
    });
  }
  radix_sort(events, [](const LayoutEvent& event) {
    return sort_key(2 * event.step + (event.begins ? 1 : 0));
  });
  return events;
}

}  // namespace stowage
