#include "instances/pictures/layout/memory_profile.h"

#include <algorithm>
#include <set>

#include "instances/layout/load.h"

namespace stowage {
namespace {

struct Event {
  std::int64_t step = 0;
  Bytes top = 0;
  Bytes size = 0;
  bool begins = false;
};

}  // namespace

std::vector<MemorySegment> memory_profile(const LayoutInstance& instance, const LayoutPlan& plan) {
  std::vector<Event> events;
  for (std::size_t i = 0; i < instance.buffers.size(); ++i) {
    const Buffer& buffer = instance.buffers[i];
    for (const Lifetime& need : needs_of(buffer)) {
      const Bytes top = plan.offsets[i] + buffer.size;
      events.push_back({need.lower, top, buffer.size, true});
      events.push_back({need.upper, top, buffer.size, false});
    }
  }
  std::ranges::stable_sort(events, {}, &Event::step);
  std::vector<MemorySegment> profile;
  std::multiset<Bytes> tops;
  Bytes used = 0;
  for (std::size_t e = 0; e < events.size();) {
    const std::int64_t step = events[e].step;
    for (; e < events.size() && events[e].step == step; ++e) {
      const Event& event = events[e];
      if (event.size == 0) continue;
      used += event.begins ? event.size : -event.size;
      if (event.begins) {
        tops.insert(event.top);
      } else {
        tops.erase(tops.find(event.top));
      }
    }
    if (e == events.size()) break;
    profile.push_back({step, events[e].step, tops.empty() ? 0 : *tops.rbegin(), used});
  }
  return profile;
}

double free_share(const std::vector<MemorySegment>& profile) {
  long double below = 0;
  long double used = 0;
  for (const MemorySegment& stretch : profile) {
    const auto steps = static_cast<long double>(stretch.upper - stretch.lower);
    below += steps * static_cast<long double>(stretch.top);
    used += steps * static_cast<long double>(stretch.used);
  }
  return below > 0 ? std::max(0.0, static_cast<double>(1 - used / below)) : 0;
}

}  // namespace stowage
