#include "heuristics/layout/index/contained_index.h"

#include <algorithm>
#include <numeric>

#include "heuristics/layout/params.h"
#include "instances/numeric/numbers.h"
#include "instances/numeric/radix_sort.h"

namespace stowage {

ContainedIndex::ContainedIndex(std::vector<SectionRange> ranges, int sections, const Budget& budget)
    : sections_(sections), ranges_(std::move(ranges)) {
  std::int64_t ticks = 0;
  const auto too_late = [&] {
    return ++ticks % layout_fixed::kClockGaps == 0 && budget.exhausted();
  };
  node_.assign(at(sections) + 2, 0);
  const auto each_node = [&](int first, auto&& visit) {
    for (int i = slot(first); i <= sections_; i += i & -i) visit(at(i));
  };
  for (const SectionRange& range : ranges_) {
    each_node(range.first, [&](std::size_t i) { ++node_[i + 1]; });
    if (too_late()) return;
  }
  std::partial_sum(node_.begin(), node_.end(), node_.begin());
  entries_.resize(node_.back());
  tree_.resize(2 * entries_.size());
  // The ranges are inserted by ascending end, so that the entries of every node are sorted.
  std::vector<Entry> by_end(ranges_.size());
  for (std::size_t r = 0; r < ranges_.size(); ++r) {
    by_end[r] = {ranges_[r].last, static_cast<int>(r)};
  }
  radix_sort(by_end, [](const Entry& entry) { return sort_key(std::int64_t{entry.first}); });
  std::vector<std::size_t> next = node_;
  for (const Entry& entry : by_end) {
    each_node(ranges_[at(entry.second)].first, [&](std::size_t i) { entries_[next[i]++] = entry; });
    if (too_late()) return;
  }
  for (std::size_t i = 0; i + 1 < node_.size(); ++i) {
    const std::size_t count = node_[i + 1] - node_[i];
    int* tree = tree_.data() + 2 * node_[i];
    if (count > 0) tree[0] = kNone;
    for (std::size_t k = 0; k < count; ++k) tree[count + k] = entries_[node_[i] + k].second;
    for (std::size_t k = count; k-- > 1;) tree[k] = std::min(tree[2 * k], tree[2 * k + 1]);
    if (too_late()) return;
  }
  complete_ = true;
}

int ContainedIndex::least(SectionRange window) const {
  int least = kNone;
  for (int i = slot(window.first); i > 0; i -= i & -i) {
    const auto begin = entries_.begin() + static_cast<std::ptrdiff_t>(node_[at(i)]);
    const auto end = entries_.begin() + static_cast<std::ptrdiff_t>(node_[at(i) + 1]);
    const auto inside = std::upper_bound(begin, end, Entry{window.last, kNone}) - begin;
    const auto count = static_cast<std::size_t>(end - begin);
    const int* tree = tree_.data() + 2 * node_[at(i)];
    std::size_t from = count;
    for (std::size_t to = count + static_cast<std::size_t>(inside); from < to; from /= 2, to /= 2) {
      if (from % 2 == 1) least = std::min(least, tree[from++]);
      if (to % 2 == 1) least = std::min(least, tree[--to]);
    }
  }
  return least;
}

void ContainedIndex::set(int rank, int value) {
  const SectionRange& range = ranges_[at(rank)];
  for (int i = slot(range.first); i <= sections_; i += i & -i) {
    const auto begin = entries_.begin() + static_cast<std::ptrdiff_t>(node_[at(i)]);
    const auto end = entries_.begin() + static_cast<std::ptrdiff_t>(node_[at(i) + 1]);
    const auto position = std::lower_bound(begin, end, Entry{range.last, rank}) - begin;
    const auto count = static_cast<std::size_t>(end - begin);
    int* tree = tree_.data() + 2 * node_[at(i)];
    std::size_t k = count + static_cast<std::size_t>(position);
    tree[k] = value;
    for (k /= 2; k >= 1; k /= 2) tree[k] = std::min(tree[2 * k], tree[2 * k + 1]);
  }
}

}  // namespace stowage
