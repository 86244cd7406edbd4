#include "solvers/memory/segments.h"

#include <algorithm>
#include <cstddef>

namespace stowage {
namespace {

// Shares of the peak. A shallower valley leaves no room between two hills. A broader top is harder
// to lay out. A narrower top leaves pins where the other steps of the hill are nearly as full.
constexpr double kDepthOfValley = 0.15;
constexpr double kDepthOfTop = 0.08;

// A hill begins at the lowest step of each valley. The last hill ends with the steps.
std::vector<std::size_t> ends_of_hills(std::span<const Bytes> needs, Bytes depth) {
  std::vector<std::size_t> ends;
  bool climbing = true;
  Bytes highest = 0;  // largest need since the last valley
  std::size_t lowest = 0;
  for (std::size_t step = 0; step < needs.size(); ++step) {
    const Bytes need = needs[step];
    if (climbing) {
      highest = std::max(highest, need);
      if (need >= highest - depth) continue;
      climbing = false;
      lowest = step;
    } else if (need < needs[lowest]) {
      lowest = step;
    } else if (need > needs[lowest] + depth) {
      ends.push_back(lowest);
      climbing = true;
      highest = need;
    }
  }
  ends.push_back(needs.size());
  return ends;
}

}  // namespace

std::vector<Segment> stretches(std::span<const Bytes> needs, Bytes peak) {
  std::vector<Segment> found;
  if (needs.empty()) return found;
  const auto share = [&](double of) { return static_cast<Bytes>(of * static_cast<double>(peak)); };
  std::size_t begin = 0;
  for (const std::size_t end : ends_of_hills(needs, share(kDepthOfValley))) {
    const Bytes highest = *std::max_element(needs.begin() + static_cast<std::ptrdiff_t>(begin),
                                            needs.begin() + static_cast<std::ptrdiff_t>(end));
    Segment top{.first = static_cast<int>(end), .last = 0, .highest = highest};
    for (std::size_t step = begin; step < end; ++step) {
      if (needs[step] < highest - share(kDepthOfTop)) continue;
      top.first = std::min(top.first, static_cast<int>(step));
      top.last = static_cast<int>(step) + 1;
    }
    found.push_back(top);
    begin = end;
  }
  return found;
}

}  // namespace stowage
