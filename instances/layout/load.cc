#include "instances/layout/load.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "instances/layout/events.h"

namespace stowage {
namespace {

const Buffer& buffer_at(const LayoutInstance& instance, std::int64_t index) {
  return instance.buffers[static_cast<std::size_t>(index)];
}

std::string buffer_name(const LayoutInstance& instance, std::int64_t index) {
  const std::string& id = buffer_at(instance, index).id;
  return id.empty() ? std::to_string(index) : id;
}

std::string names_of(const LayoutInstance& instance, const std::vector<std::int64_t>& buffers) {
  // Buffers that a message names.
  constexpr std::size_t kNamed = 10;
  std::string names;
  for (std::size_t k = 0; k < std::min(buffers.size(), kNamed); ++k) {
    names += (k == 0 ? "" : ", ") + buffer_name(instance, buffers[k]);
  }
  if (buffers.size() > kNamed) names += " and " + std::to_string(buffers.size() - kNamed) + " more";
  return names;
}

std::string pinned_at(const LayoutInstance& instance, std::int64_t index) {
  const Buffer& buffer = buffer_at(instance, index);
  return "buffer " + buffer_name(instance, index) + " is pinned to bytes [" +
         std::to_string(*buffer.offset) + ", " + std::to_string(*buffer.offset + buffer.size) + ')';
}

// Returns the peak of plain sums of sizes, or nullopt if there are too many steps for an array.
std::optional<PeakLoad> peak_of_sums(const LayoutInstance& instance) {
  std::int64_t first = kMaxExact;
  std::int64_t last = 0;
  for (const Buffer& buffer : instance.buffers) {
    first = std::min(first, buffer.lower);
    last = std::max(last, buffer.upper);
  }
  const auto few = 4 * static_cast<std::int64_t>(instance.buffers.size());
  if (first > last || last - first > few) return std::nullopt;
  std::vector<Bytes> change(static_cast<std::size_t>(last - first + 1), 0);
  for (const Buffer& buffer : instance.buffers) {
    for_each_need(buffer, [&](const Lifetime& need) {
      change[static_cast<std::size_t>(need.lower - first)] += buffer.size;
      change[static_cast<std::size_t>(need.upper - first)] -= buffer.size;
    });
  }
  PeakLoad peak;
  Bytes load = 0;
  for (std::size_t s = 0; s < change.size(); ++s) {
    load += change[s];
    if (load > peak.load) peak = {first + static_cast<std::int64_t>(s), load};
  }
  return peak;
}

}  // namespace

Bytes alignment_of(const LayoutInstance& instance, const Buffer& buffer) {
  return std::lcm(instance.alignment, buffer.alignment);
}

std::vector<Lifetime> needs_of(const Buffer& buffer) {
  std::vector<Lifetime> needs;
  for_each_need(buffer, [&](const Lifetime& need) { needs.push_back(need); });
  return needs;
}

PeakLoad peak_load(const LayoutInstance& instance) {
  Bytes unit = 0;
  for (const Buffer& buffer : instance.buffers) {
    if (buffer.size > 0 && unit != 1) unit = std::gcd(unit, alignment_of(instance, buffer));
  }
  const bool cut = unit > 1 && std::ranges::any_of(instance.buffers, [&](const Buffer& b) {
                     return b.size % unit != 0;
                   });
  if (!cut) {
    if (const auto peak = peak_of_sums(instance)) return *peak;
  }
  struct Blocks {
    Bytes whole = 0;
    Bytes left = 0;  // bytes left free in the last block
  };
  std::vector<Blocks> blocks(instance.buffers.size());
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const Bytes size = instance.buffers[b].size;
    blocks[b].whole = cut ? (size + unit - 1) / unit * unit : size;
    blocks[b].left = blocks[b].whole - size;
  }

  PeakLoad peak;
  Bytes load = 0;                  // bytes of whole blocks
  std::map<Bytes, int> cut_short;  // bytes left free in a last block: number of buffers
  const std::vector<LayoutEvent> events =
      layout_events(instance, [](const Buffer&) { return true; });
  for (std::size_t k = 0; k < events.size(); ++k) {
    const auto [whole, left] = blocks[static_cast<std::size_t>(events[k].buffer)];
    load += events[k].begins ? whole : -whole;
    if (left > 0 && events[k].begins) {
      ++cut_short[left];
    } else if (left > 0) {
      const auto at = cut_short.find(left);
      if (--at->second == 0) cut_short.erase(at);
    }
    const bool last_of_step = k + 1 == events.size() || events[k + 1].step != events[k].step;
    if (!last_of_step) continue;
    const Bytes least = load - (cut_short.empty() ? 0 : cut_short.rbegin()->first);
    if (least > peak.load) peak = {events[k].step, least};
  }
  return peak;
}

std::vector<std::int64_t> needing_memory_at(const LayoutInstance& instance, std::int64_t step) {
  std::vector<std::int64_t> found;
  for (std::size_t i = 0; i < instance.buffers.size(); ++i) {
    const Buffer& buffer = instance.buffers[i];
    if (buffer.size == 0 || step < buffer.lower || step >= buffer.upper) continue;
    const bool free = std::any_of(buffer.gaps.begin(), buffer.gaps.end(), [&](const Lifetime& gap) {
      return step >= gap.lower && step < gap.upper;
    });
    if (!free) found.push_back(static_cast<std::int64_t>(i));
  }
  return found;
}

std::vector<PinClash> pin_clashes(const LayoutInstance& instance) {
  std::vector<PinClash> clashes;
  std::map<Bytes, std::int64_t> live;  // disjoint buffers by offset
  std::set<std::int64_t> clashing;     // buffers with a clash that is already listed
  for (const LayoutEvent& event :
       layout_events(instance, [](const Buffer& b) { return b.offset.has_value(); })) {
    const Buffer& buffer = buffer_at(instance, event.buffer);
    const auto after = live.lower_bound(*buffer.offset);
    if (!event.begins) {
      if (after != live.end() && after->second == event.buffer) live.erase(after);
      continue;
    }
    std::int64_t other = -1;
    if (after != live.end() && after->first < *buffer.offset + buffer.size) {
      other = after->second;
    } else if (after != live.begin()) {
      const auto before = std::prev(after);
      if (before->first + buffer_at(instance, before->second).size > *buffer.offset) {
        other = before->second;
      }
    }
    if (other < 0) {
      live[*buffer.offset] = event.buffer;
    } else if (clashing.insert(event.buffer).second) {
      clashes.push_back({.first = other, .second = event.buffer, .step = event.step});
    }
  }
  return clashes;
}

std::optional<LayoutInfeasibility> layout_infeasibility(const LayoutInstance& instance) {
  using Reason = LayoutInfeasibility::Reason;
  if (const std::vector<PinClash> clashes = pin_clashes(instance); !clashes.empty()) {
    const auto [a, b, step] = clashes.front();
    return LayoutInfeasibility{.reason = Reason::pins_clash,
                               .step = step,
                               .buffers = {std::min(a, b), std::max(a, b)},
                               .text = pinned_at(instance, std::min(a, b)) + " and " +
                                       pinned_at(instance, std::max(a, b)) +
                                       ", and both are needed at step " + std::to_string(step)};
  }
  if (!instance.capacity) return std::nullopt;
  const std::string capacity = std::to_string(*instance.capacity);
  for (std::size_t i = 0; i < instance.buffers.size(); ++i) {
    const Buffer& buffer = instance.buffers[i];
    if (!buffer.offset || *buffer.offset + buffer.size <= *instance.capacity) continue;
    const auto index = static_cast<std::int64_t>(i);
    return LayoutInfeasibility{
        .reason = Reason::pin_above_capacity,
        .step = std::nullopt,
        .buffers = {index},
        .text = pinned_at(instance, index) + ", beyond the capacity of " + capacity + " bytes"};
  }
  const PeakLoad peak = peak_load(instance);
  if (peak.load <= *instance.capacity) return std::nullopt;
  std::vector<std::int64_t> buffers = needing_memory_at(instance, peak.step);
  const std::string text = "step " + std::to_string(peak.step) + " needs " +
                           std::to_string(peak.load) + " bytes, and the capacity is " + capacity +
                           " bytes: buffers " + names_of(instance, buffers);
  return LayoutInfeasibility{.reason = Reason::load_above_capacity,
                             .step = peak.step,
                             .buffers = std::move(buffers),
                             .text = text};
}

}  // namespace stowage
