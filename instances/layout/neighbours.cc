#include "instances/layout/neighbours.h"

#include <algorithm>
#include <numeric>

namespace stowage {

std::vector<int> overlaps(const LayoutTable& table) {
  const auto sections = static_cast<std::size_t>(table.sections());
  std::vector<int> started(sections + 1, 0);  // hulls that begin before section s
  std::vector<int> ended(sections + 1, 0);    // hulls that end at or before section s
  for (int b = 0; b < table.buffers(); ++b) {
    if (table.idle(b)) continue;
    const SectionRange hull = table.hull(b);
    ++started[static_cast<std::size_t>(hull.first) + 1];
    ++ended[static_cast<std::size_t>(hull.last)];
  }
  std::partial_sum(started.begin(), started.end(), started.begin());
  std::partial_sum(ended.begin(), ended.end(), ended.begin());
  std::vector<int> counts(static_cast<std::size_t>(table.buffers()), 0);
  for (int b = 0; b < table.buffers(); ++b) {
    if (table.idle(b)) continue;
    const SectionRange hull = table.hull(b);
    counts[static_cast<std::size_t>(b)] = started[static_cast<std::size_t>(hull.last)] -
                                          ended[static_cast<std::size_t>(hull.first)] - 1;
  }
  return counts;
}

std::int64_t count_pairs(const LayoutTable& table) {
  const std::vector<int> counts = overlaps(table);
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0}) / 2;
}

LayoutNeighbours::LayoutNeighbours(const LayoutTable& table) {
  const auto n = static_cast<std::size_t>(table.buffers());
  // Sorts buffers by the section in which their hull starts. Buffer b meets those that start before
  // its hull ends, so its earlier member finds each pair.
  std::vector<int> order;
  for (int b = 0; b < table.buffers(); ++b) {
    if (!table.idle(b)) order.push_back(b);
  }
  std::ranges::stable_sort(order, {}, [&](int b) { return table.hull(b).first; });
  const auto each_pair = [&](auto&& visit) {
    for (std::size_t i = 0; i < order.size(); ++i) {
      const int last = table.hull(order[i]).last;
      for (std::size_t j = i + 1; j < order.size() && table.hull(order[j]).first < last; ++j) {
        if (!table.any_gaps() || table.conflict(order[i], order[j])) visit(order[i], order[j]);
      }
    }
  };
  first_.assign(n + 1, 0);
  each_pair([&](int a, int b) {
    ++first_[static_cast<std::size_t>(a) + 1];
    ++first_[static_cast<std::size_t>(b) + 1];
  });
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
  all_.resize(first_.back());
  std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
  each_pair([&](int a, int b) {
    all_[next[static_cast<std::size_t>(a)]++] = b;
    all_[next[static_cast<std::size_t>(b)]++] = a;
  });
  for (std::size_t b = 0; b < n; ++b) {
    std::sort(all_.begin() + static_cast<std::ptrdiff_t>(first_[b]),
              all_.begin() + static_cast<std::ptrdiff_t>(first_[b + 1]));
  }
  list_members(table);
}

void LayoutNeighbours::list_members(const LayoutTable& table) {
  const auto each = [&](auto&& visit) {
    for (int b = 0; b < table.buffers(); ++b) {
      for (const SectionRange& range : table.ranges(b)) {
        for (int s = range.first; s < range.last; ++s) visit(static_cast<std::size_t>(s), b);
      }
    }
  };
  first_member_.assign(static_cast<std::size_t>(table.sections()) + 1, 0);
  each([&](std::size_t s, int) { ++first_member_[s + 1]; });
  std::partial_sum(first_member_.begin(), first_member_.end(), first_member_.begin());
  members_.resize(first_member_.back());
  std::vector<std::size_t> next = first_member_;
  each([&](std::size_t s, int b) { members_[next[s]++] = b; });
}

}  // namespace stowage
