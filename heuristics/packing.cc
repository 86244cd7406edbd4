#include "heuristics/packing.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <numeric>
#include <queue>
#include <set>
#include <utility>

namespace stowage {
namespace {

template <class Key>
std::vector<int> descending(std::span<const Key> keys) {
  std::vector<int> order(keys.size());
  std::iota(order.begin(), order.end(), 0);
  if (std::ranges::is_sorted(keys, std::greater<>{}))
    return order;  // often so, and checked in no time
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return keys[static_cast<std::size_t>(a)] > keys[static_cast<std::size_t>(b)];
  });
  return order;
}

// Rooms of all bins in a segment tree that finds the first bin with enough room in O(log bins).
class RoomTree {
 public:
  explicit RoomTree(std::size_t bins) {
    while (leaves_ < bins) leaves_ *= 2;
    room_.assign(2 * leaves_, -1);
  }
  void set(std::size_t bin, Tokens room) {
    std::size_t node = bin + leaves_;
    room_[node] = room;
    while (node /= 2) room_[node] = std::max(room_[2 * node], room_[2 * node + 1]);
  }
  Tokens room(std::size_t bin) const { return room_[bin + leaves_]; }
  // Returns the first bin with room >= `size`. Requires that one exists.
  std::size_t first_with(Tokens size) const {
    std::size_t node = 1;
    while (node < leaves_) node = room_[2 * node] >= size ? 2 * node : 2 * node + 1;
    return node - leaves_;
  }

 private:
  std::size_t leaves_ = 1;
  std::vector<Tokens> room_;
};

std::optional<Bins> first_fit_in(const std::vector<int>& order, std::span<const Tokens> sizes,
                                 Tokens capacity) {
  RoomTree rooms(sizes.size());
  for (std::size_t bin = 0; bin < sizes.size(); ++bin) rooms.set(bin, capacity);
  Bins bins;
  for (const int item : order) {
    const Tokens size = sizes[static_cast<std::size_t>(item)];
    if (size > capacity) return std::nullopt;
    const std::size_t bin = rooms.first_with(size);
    if (bin >= bins.size()) bins.resize(bin + 1);
    bins[bin].push_back(item);
    rooms.set(bin, rooms.room(bin) - size);
  }
  return bins;
}

}  // namespace

std::optional<Bins> first_fit_decreasing(std::span<const Tokens> sizes, Tokens capacity) {
  return first_fit_in(descending(sizes), sizes, capacity);
}

std::optional<Bins> first_fit(std::span<const Tokens> sizes, Tokens capacity) {
  std::vector<int> order(sizes.size());
  std::iota(order.begin(), order.end(), 0);
  return first_fit_in(order, sizes, capacity);
}

std::optional<Bins> best_fit_decreasing(std::span<const Tokens> sizes, Tokens capacity) {
  // Bins by room; those of equal room as a heap with the first bin on top.
  std::map<Tokens, std::vector<std::size_t>> by_room;
  Bins bins;
  const std::vector<int> order = descending(sizes);
  for (std::size_t i = 0; i < order.size();) {
    const Tokens size = sizes[static_cast<std::size_t>(order[i])];
    if (size > capacity) return std::nullopt;
    Tokens room = capacity;
    std::size_t bin = bins.size();
    if (const auto fullest = by_room.lower_bound(size); fullest != by_room.end()) {
      std::vector<std::size_t>& same = fullest->second;
      std::ranges::pop_heap(same, std::greater<>{});
      room = fullest->first;
      bin = same.back();
      same.pop_back();
      if (same.empty()) by_room.erase(fullest);
    } else {
      bins.emplace_back();
    }
    // The bin stays the fullest bin with room for all further items of the same size.
    std::size_t end = i;
    do {
      ++end;
      room -= size;
    } while (end < order.size() && sizes[static_cast<std::size_t>(order[end])] == size &&
             room >= size);
    const auto at = [&](std::size_t k) { return order.begin() + static_cast<std::ptrdiff_t>(k); };
    bins[bin].insert(bins[bin].end(), at(i), at(end));
    i = end;
    std::vector<std::size_t>& same = by_room[room];
    same.push_back(bin);
    std::ranges::push_heap(same, std::greater<>{});
  }
  return bins;
}

void cut_large(Bins& bins, std::int64_t most) {
  Bins cut;
  for (std::vector<int>& bin : bins) {
    if (std::ssize(bin) <= most) {
      cut.push_back(std::move(bin));
      continue;
    }
    for (auto first = bin.begin(); first != bin.end();) {
      const auto last = first + std::min<std::ptrdiff_t>(most, bin.end() - first);
      cut.emplace_back(first, last);
      first = last;
    }
  }
  bins = std::move(cut);
}

std::optional<Bins> longest_processing_time(std::span<const double> loads,
                                            std::span<const Tokens> sizes, int bins,
                                            Tokens capacity) {
  Bins packed(static_cast<std::size_t>(bins));
  std::vector<Tokens> room(packed.size(), capacity);
  std::vector<double> load(packed.size(), 0);
  std::set<std::pair<double, std::size_t>> by_load;  // (load, bin)
  // Bins without room for an item wait, sorted by room, until an item comes that fits. So the many
  // full bins are not scanned for every item.
  std::set<std::pair<Tokens, std::size_t>> waiting;
  for (std::size_t bin = 0; bin < packed.size(); ++bin) by_load.insert({0, bin});
  for (const int item : descending(loads)) {
    const auto i = static_cast<std::size_t>(item);
    while (!waiting.empty() && waiting.rbegin()->first >= sizes[i]) {
      const auto last = std::prev(waiting.end());
      by_load.insert({load[last->second], last->second});
      waiting.erase(last);
    }
    while (!by_load.empty() && room[by_load.begin()->second] < sizes[i]) {
      const std::size_t full = by_load.begin()->second;
      waiting.insert({room[full], full});
      by_load.erase(by_load.begin());
    }
    if (by_load.empty()) return std::nullopt;
    const std::size_t bin = by_load.begin()->second;
    by_load.erase(by_load.begin());
    load[bin] += loads[i];
    by_load.insert({load[bin], bin});
    packed[bin].push_back(item);
    room[bin] -= sizes[i];
  }
  return packed;
}

namespace {

// Items of a bin as a chain through `next`, so that joining two bins is O(1).
struct Chain {
  double load = 0;
  int first = -1;
  int last = -1;
};

// Bins in descending load. Bins beyond `chains` are empty.
struct PartialPartition {
  double spread = 0;
  int age = 0;
  std::vector<Chain> chains;

  // Heap order: the least spread, then the greatest age, comes last.
  bool operator<(const PartialPartition& other) const {
    return std::pair(spread, -age) < std::pair(other.spread, -other.age);
  }
};

}  // namespace

Bins karmarkar_karp(std::span<const double> loads, int bins, const Budget& budget) {
  constexpr std::size_t kClockChains = 1 << 18;  // chains joined between two readings of the clock
  const auto count = static_cast<std::size_t>(bins);
  std::vector<int> next(loads.size(), -1);
  std::priority_queue<PartialPartition> heap;
  const auto push = [&](std::vector<Chain> chains, int age) {
    const double least = chains.size() < count ? 0 : chains.back().load;
    const double spread = chains.front().load - least;
    heap.push({spread, age, std::move(chains)});
  };
  int age = 0;
  for (; age < static_cast<int>(loads.size()); ++age) {
    push({{loads[static_cast<std::size_t>(age)], age, age}}, age);
  }
  std::size_t joined = 0;
  while (heap.size() > 1) {
    if (joined >= kClockChains) {
      if (budget.exhausted()) return {};
      joined = 0;
    }
    PartialPartition a = heap.top();
    heap.pop();
    PartialPartition b = heap.top();
    heap.pop();
    // Bin k of a meets bin count - 1 - k of b.
    a.chains.resize(std::max(a.chains.size(), std::min(count, a.chains.size() + b.chains.size())));
    for (std::size_t k = 0; k < b.chains.size(); ++k) {
      const Chain& from = b.chains[k];
      Chain& to = a.chains[std::min(count - 1, a.chains.size() - 1) - k];
      if (to.first < 0) {
        to = from;
      } else {
        next[static_cast<std::size_t>(to.last)] = from.first;
        to.last = from.last;
        to.load += from.load;
      }
    }
    joined += 1 + a.chains.size() + b.chains.size();
    std::ranges::stable_sort(a.chains, std::greater<>{}, &Chain::load);
    push(std::move(a.chains), age++);
  }
  Bins made(count);
  if (heap.empty()) return made;
  for (std::size_t bin = 0; bin < heap.top().chains.size(); ++bin) {
    for (int item = heap.top().chains[bin].first; item >= 0;
         item = next[static_cast<std::size_t>(item)]) {
      made[bin].push_back(item);
    }
    std::ranges::sort(made[bin]);
  }
  return made;
}

}  // namespace stowage
