#include "heuristics/scatter/construct/equal_counts/group_degrees.h"

#include <algorithm>
#include <span>
#include <vector>

namespace stowage {
namespace {

constexpr int kMaxPlaces = 4096;  // groups times devices; above it, make_up() is not tried

}  // namespace

int GroupDegrees::needed(std::span<const ConfigTimes> groups, Ms most) const {
  int devices = 0;
  for (const ConfigTimes times : groups) {
    const int config = least_config(times, most);
    if (config < 0) return table_.devices() + 1;
    devices += degree(config);
    if (devices > table_.devices()) return devices;
  }
  return devices;
}

Ms GroupDegrees::choose(std::span<const ConfigTimes> groups, bool whole) {
  candidates_.clear();
  for (const ConfigTimes times : groups) {
    for (const Ms time : times) {
      if (time < kInfinity) candidates_.push_back(time);
    }
  }
  // Binary search for the least time in which all groups fit on the devices. No time before
  // `first` suffices, and all times from `last` on suffice.
  auto first = candidates_.begin();
  auto last = candidates_.end();
  while (first != last) {
    const auto middle = first + (last - first) / 2;
    std::nth_element(first, middle, last);
    if (needed(groups, *middle) > table_.devices()) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  if (last == candidates_.end()) return kInfinity;
  const Ms enough = *last;
  const int left = table_.devices() - needed(groups, enough);
  take(groups, enough);
  if (whole && !widen(groups, left) && !make_up(groups)) return kInfinity;
  Ms makespan = 0;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    makespan = std::max(makespan, groups[g][at(configs_[g])]);
  }
  return makespan;
}

// Returns the fastest configuration of the least degree with time <= `most`, or -1 if no
// configuration is fast enough.
int GroupDegrees::least_config(ConfigTimes times, Ms most) const {
  int least = -1;
  for (int config = 0; config < static_cast<int>(times.size()); ++config) {
    if (times[at(config)] > most) continue;
    if (least >= 0 && degree(config) > degree(least)) break;
    if (least < 0 || times[at(config)] < times[at(least)]) least = config;
  }
  return least;
}

void GroupDegrees::take(std::span<const ConfigTimes> groups, Ms most) {
  configs_.clear();
  for (const ConfigTimes times : groups) configs_.push_back(least_config(times, most));
}

// Gives the remaining devices to groups: first the widening that takes most devices, then the
// fastest. Returns false if some devices stay idle.
bool GroupDegrees::widen(std::span<const ConfigTimes> groups, int left) {
  while (left > 0) {
    int best_more = 0;
    std::size_t best_group = 0;
    int best_config = 0;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      for (int config = configs_[g] + 1; config < static_cast<int>(groups[g].size()); ++config) {
        const int more = degree(config) - degree(configs_[g]);
        if (more > left || more < 1 || groups[g][at(config)] == kInfinity) continue;
        const bool faster =
            more == best_more && groups[g][at(config)] < groups[best_group][at(best_config)];
        if (more > best_more || faster) {
          best_more = more;
          best_group = g;
          best_config = config;
        }
      }
    }
    if (best_more == 0) return false;
    configs_[best_group] = best_config;
    left -= best_more;
  }
  return true;
}

// Chooses degrees that sum up to all devices, with the least makespan, by dynamic programming
// over the sums. Returns false if no choice exists or the table would be too large.
bool GroupDegrees::make_up(std::span<const ConfigTimes> groups) {
  const auto devices = at(table_.devices());
  const std::size_t width = devices + 1;
  if (groups.size() * devices > kMaxPlaces) return false;
  std::vector<Ms> least((groups.size() + 1) * width, kInfinity);
  std::vector<int> by(least.size(), -1);
  least[0] = 0;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (int config = 0; config < static_cast<int>(groups[g].size()); ++config) {
      for (std::size_t sum = at(degree(config)); sum < width; ++sum) {
        const Ms before = least[g * width + sum - at(degree(config))];
        const Ms then = std::max(before, groups[g][at(config)]);
        if (then >= least[(g + 1) * width + sum]) continue;
        least[(g + 1) * width + sum] = then;
        by[(g + 1) * width + sum] = config;
      }
    }
  }
  if (least.back() == kInfinity) return false;
  configs_.assign(groups.size(), 0);
  std::size_t sum = devices;
  for (std::size_t g = groups.size(); g-- > 0;) {
    configs_[g] = by[(g + 1) * width + sum];
    sum -= at(degree(configs_[g]));
  }
  return true;
}

}  // namespace stowage
