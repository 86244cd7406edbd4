#include "heuristics/layout/improve/ejection.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "heuristics/layout/construct/buffer_orders.h"
#include "instances/numeric/numbers.h"
#include "instances/numeric/radix_sort.h"
#include "instances/ticker.h"

namespace stowage {
namespace {

using layout_fixed::kMaxWeight;
using layout_fixed::kPinWeight;
using layout_fixed::kShares;

constexpr Bytes kOut = -1;

}  // namespace

Ejection::Ejection(const LayoutTable& table, std::uint64_t seed, const EjectionParams& params)
    : table_(table),
      any_share_(static_cast<std::uint32_t>(params.any_share * kShares)),
      random_(seed),
      place_(at(table.buffers())),
      weight_(at(table.buffers()), kPinWeight),
      failed_(at(table.buffers()), 0) {
  std::vector<int> order = static_order(table, "L");
  for (int b = 0; b < table.buffers(); ++b) {
    if (table.pinned(b) && !table.idle(b)) order.push_back(b);
  }
  std::ranges::stable_sort(order, {}, [&](int b) { return table.hull(b).first; });
  const auto root_of_area = [&](int b) {
    const SectionRange hull = table.hull(b);
    return std::sqrt(static_cast<double>(table.size(b)) * (hull.last - hull.first));
  };
  double roots = 0;
  for (const int b : order) roots += root_of_area(b);
  std::vector<int> class_of(32, -1);
  for (const int b : order) {
    const SectionRange hull = table.hull(b);
    const int length = hull.last - hull.first;
    int& klass = class_of[std::bit_width(static_cast<unsigned>(length)) - 1];
    if (klass < 0) {
      klass = static_cast<int>(classes_.size());
      classes_.emplace_back();
    }
    Class& own = classes_[at(klass)];
    place_[at(b)] = {klass, own.buffer.size()};
    own.longest = std::max(own.longest, length);
    own.first.push_back(hull.first);
    own.last.push_back(hull.last);
    own.buffer.push_back(b);
    own.offset.push_back(kOut);
    if (table.pinned(b)) continue;
    const double share = root_of_area(b) * static_cast<double>(order.size()) / roots;
    weight_[at(b)] = 1 + static_cast<std::int64_t>(params.size_weight * share);
  }
}

std::optional<std::vector<Bytes>> Ejection::fit_below(const std::vector<Bytes>& offsets,
                                                      Bytes target, std::int64_t visits,
                                                      Budget& budget) {
  if (target < table_.max_load()) return std::nullopt;
  visits_ += table_.buffers();
  std::vector<int> waiting;
  std::vector<Bytes> lower = offsets;
  for (int b = 0; b < table_.buffers(); ++b) {
    if (!table_.idle(b)) continue;
    if (!table_.pinned(b)) lower[at(b)] = 0;
    if (lower[at(b)] + table_.size(b) > target) return std::nullopt;
  }
  for (Class& klass : classes_) {
    for (std::size_t i = 0; i < klass.buffer.size(); ++i) {
      const int b = klass.buffer[i];
      const bool high = offsets[at(b)] + table_.size(b) > target;
      if (high && table_.pinned(b)) return std::nullopt;
      klass.offset[i] = high ? kOut : offsets[at(b)];
      if (high) waiting.push_back(b);
    }
  }
  std::ranges::sort(waiting, {}, [&](int b) { return std::pair(weight_[at(b)], b); });
  std::ranges::fill(failed_, 0);
  PollEvery ticker(budget, layout_fixed::kClockVisits);
  const std::int64_t last_visit = visits_ + visits;
  while (!waiting.empty()) {
    std::swap(waiting[random_.below(kShares) < any_share_
                          ? random_.below(static_cast<std::uint32_t>(waiting.size()))
                          : waiting.size() - 1],
              waiting.back());
    const int b = waiting.back();
    waiting.pop_back();
    const std::int64_t before = visits_;
    list_neighbours(b);
    budget.count_nodes(1);
    if (visits_ > last_visit || budget.nodes_left() < 0 || ticker.exhausted(visits_ - before)) {
      return std::nullopt;
    }
    if (const auto offset = free_offset(b, target)) {
      put(b, *offset);
      continue;
    }
    ++failed_[at(b)];
    const auto offset = forced_offset(b, target);
    if (!offset) return std::nullopt;
    for (const Neighbour& other : neighbours_) {
      if (other.offset >= *offset + table_.size(b) || other.end <= *offset) continue;
      put(other.buffer, kOut);
      waiting.push_back(other.buffer);
    }
    put(b, *offset);
  }
  for (const Class& klass : classes_) {
    for (std::size_t i = 0; i < klass.buffer.size(); ++i) {
      lower[at(klass.buffer[i])] = klass.offset[i];
    }
  }
  return lower;
}

void Ejection::put(int b, Bytes offset) {
  const Place& place = place_[at(b)];
  classes_[at(place.klass)].offset[place.index] = offset;
}

// Lists the placed buffers whose lifetimes overlap the lifetime of `b`, by offset.
void Ejection::list_neighbours(int b) {
  neighbours_.clear();
  const SectionRange hull = table_.hull(b);
  for (const Class& klass : classes_) {
    auto i = static_cast<std::size_t>(
        std::ranges::upper_bound(klass.first, hull.first - klass.longest) - klass.first.begin());
    const std::size_t from = i;
    for (; i < klass.first.size() && klass.first[i] < hull.last; ++i) {
      if (klass.last[i] <= hull.first || klass.offset[i] == kOut) continue;
      const int other = klass.buffer[i];
      if (table_.any_gaps() && !table_.conflict(b, other)) continue;
      const std::int64_t weight =
          table_.pinned(other)
              ? kPinWeight
              : std::min(kMaxWeight, (1 + failed_[at(other)]) * weight_[at(other)]);
      neighbours_.push_back({klass.offset[i], klass.offset[i] + table_.size(other), weight, other});
    }
    visits_ += 1 + static_cast<std::int64_t>(i - from);
  }
  radix_sort(neighbours_, [](const Neighbour& n) { return sort_key(n.offset); });
  visits_ += 4 * static_cast<std::int64_t>(neighbours_.size());
}

// Returns the offset in the smallest free gap that is large enough, or nullopt if no gap is.
std::optional<Bytes> Ejection::free_offset(int b, Bytes target) const {
  std::optional<Bytes> best;
  Bytes least = std::numeric_limits<Bytes>::max();
  Bytes top = 0;
  const auto consider = [&](Bytes rim) {
    const Bytes offset = table_.aligned(b, top);
    if (offset + table_.size(b) > rim || rim - top >= least) return;
    least = rim - top;
    best = offset;
  };
  for (const Neighbour& other : neighbours_) {
    consider(std::min(other.offset, target));
    top = std::max(top, other.end);
  }
  consider(target);
  return best;
}

// Returns the offset at which the overlapping buffers have the least total weight; ties are broken
// at random. Returns nullopt if every offset overlaps a pinned buffer.
std::optional<Bytes> Ejection::forced_offset(int b, Bytes target) {
  const Bytes size = table_.size(b);
  const Bytes alignment = table_.alignment(b);
  const Bytes highest = target - size;
  if (highest < 0) return std::nullopt;
  ends_.clear();
  for (const Neighbour& other : neighbours_) ends_.emplace_back(other.end, other.weight);
  radix_sort(ends_, [](const auto& end) { return sort_key(end.first); });
  // Candidate offsets lie directly on top of a neighbour or directly below a neighbour. Both lists
  // are created in ascending order.
  candidates_ = {0};
  for (const auto& [end, weight] : ends_) {
    const Bytes above = table_.aligned(b, end);
    if (above <= highest && above > candidates_.back()) candidates_.push_back(above);
  }
  const auto middle = static_cast<std::ptrdiff_t>(candidates_.size());
  for (const Neighbour& other : neighbours_) {
    if (other.offset < size) continue;
    const Bytes below = (other.offset - size) / alignment * alignment;
    if (below <= highest) candidates_.push_back(below);
  }
  candidates_.push_back(highest / alignment * alignment);
  std::ranges::inplace_merge(candidates_, candidates_.begin() + middle);
  auto begins = neighbours_.begin();
  auto ends = ends_.begin();
  std::int64_t begun = 0;  // weight of the neighbours that begin below the end of the buffer
  std::int64_t ended = 0;  // weight of the neighbours that end below the offset of the buffer
  std::int64_t least = kPinWeight - 1;
  std::uint32_t ties = 0;
  std::optional<Bytes> best;
  for (const Bytes offset : candidates_) {
    for (; begins != neighbours_.end() && begins->offset < offset + size; ++begins) {
      begun += begins->weight;
    }
    for (; ends != ends_.end() && ends->first <= offset; ++ends) ended += ends->second;
    const std::int64_t weight = begun - ended;
    if (weight < least) {
      ties = 0;
    } else if (weight > least) {
      continue;
    }
    least = weight;
    if (random_.below(++ties) == 0) best = offset;
  }
  return best;
}

}  // namespace stowage
