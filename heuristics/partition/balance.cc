#include "heuristics/partition/balance.h"

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "heuristics/partition/exchange.h"
#include "heuristics/partition/start.h"
#include "heuristics/partition/two_way.h"
#include "instances/numbers.h"
#include "instances/radix_sort.h"

namespace stowage {
namespace {

// Items by falling cost: what an item is called in here is its place in this order.
struct Item {
  std::int64_t cost = 0;
  std::int64_t id = 0;
};
std::vector<Item> falling(std::span<const std::int64_t> costs) {
  std::vector<Item> order;
  order.reserve(costs.size());
  for (const std::int64_t cost : costs) {
    order.push_back({cost, static_cast<std::int64_t>(order.size())});
  }
  radix_sort(order, [](const Item& item) { return sort_key(-item.cost); });
  return order;
}

class Balancing {
 public:
  Balancing(std::vector<std::int64_t> costs, const BalanceRules& rules, ItemBins bins)
      : costs_(std::move(costs)), rules_(rules), bins_(std::move(bins)) {
    std::int64_t sum = 0;
    for (std::size_t b = 0; b < bins_.size(); ++b) {
      std::int64_t load = 0;
      for (const std::int32_t item : bins_[b]) load += costs_[at(item)];
      load_.push_back(load);
      order_.insert({load, b});
      sum += load;
    }
    even_ = sum % rules.bins == 0 ? 0 : 1;
    lists_.resize(bins_.size());
    version_.assign(bins_.size(), 0);
  }

  // Exchanges of up to `depth` items, as long as they help and `work` steps are left.
  void search(int depth, std::size_t subsets, std::int64_t& work) {
    // Of bins of so few items, exchanging all but some is exchanging some.
    if (most_items() < depth || (rules_.fewest == rules_.most && rules_.most <= depth)) return;
    depth_ = depth;
    subsets_ = subsets;
    work_ = &work;
    std::ranges::fill(lists_, SubsetLists());
    Tried dear;
    Tried cheap;
    while (work > 0 && spread() > even_) {
      const bool enough = order_.rbegin()->first <= rules_.enough;
      if ((enough || !relieve(dear)) && !fill(cheap)) break;
    }
  }

  // Brings one bin after another to the average: the dearest and the cheapest of those left share
  // their items anew so that one of them costs what the average is, and leaves. Bins that one item
  // alone makes dearer stay out of it. Undone if it does not help. Precise where bins have many
  // items; requires counts that differ by at most one, unless they are free.
  void level(bool counted) {
    const ItemBins before = bins_;
    const std::vector<std::int64_t> loads_before = load_;
    const std::int64_t largest = order_.rbegin()->first;
    const std::int64_t smallest = order_.begin()->first;
    std::set<std::pair<std::int64_t, std::size_t>> left = order_;
    std::int64_t sum = 0;
    for (const std::int64_t load : load_) sum += load;
    while (left.size() > 1) {
      const auto [load, dear] = *left.rbegin();
      const auto average = sum / static_cast<std::int64_t>(left.size());
      left.erase(std::prev(left.end()));
      if (costs_[at(bins_[dear].front())] > average) {
        sum -= load;
        continue;
      }
      const std::size_t cheap = left.begin()->second;
      left.erase(left.begin());
      share_anew(dear, cheap, average, counted);
      const bool dear_leaves = std::abs(load_[dear] - average) <= std::abs(load_[cheap] - average);
      const std::size_t stays = dear_leaves ? cheap : dear;
      sum -= load_[dear_leaves ? dear : cheap];
      left.insert({load_[stays], stays});
    }
    reorder();
    const std::int64_t now = order_.rbegin()->first;
    const bool filled = std::ranges::none_of(bins_, [](const auto& bin) { return bin.empty(); });
    if (filled && (now < largest || (now == largest && order_.begin()->first >= smallest))) return;
    bins_ = before;
    load_ = loads_before;
    reorder();
  }

  std::int64_t most_items() const {
    std::size_t most = 0;
    for (const auto& bin : bins_) most = std::max(most, bin.size());
    return static_cast<std::int64_t>(most);
  }

  // Whether the largest bin is cheaper than that of the other, or as dear and the smallest dearer.
  bool better_than(const Balancing& other) const {
    const auto extremes = [](const Balancing& own) {
      return std::pair(own.order_.rbegin()->first, -own.order_.begin()->first);
    };
    return extremes(*this) < extremes(other);
  }

  ItemBins take() && { return std::move(bins_); }

 private:
  // Partners that an extreme bin has been tried with, by the partner's version.
  struct Tried {
    std::size_t bin = std::numeric_limits<std::size_t>::max();
    std::int64_t version = -1;
    std::vector<std::int64_t> with;
  };

  std::int64_t spread() const { return order_.rbegin()->first - order_.begin()->first; }

  void turn_to(std::size_t bin, Tried& tried) const {
    if (tried.bin == bin && tried.version == version_[bin]) return;
    tried = {bin, version_[bin], std::vector<std::int64_t>(bins_.size(), -1)};
  }

  // The largest bin gives to another one, the smallest first.
  bool relieve(Tried& tried) {
    const std::size_t dearest = order_.rbegin()->second;
    turn_to(dearest, tried);
    for (const auto& [load, bin] : order_) {
      if (*work_ <= 0 || load_[dearest] - load <= 1) return false;
      if (tried.with[bin] == version_[bin]) continue;
      tried.with[bin] = version_[bin];
      if (exchange(dearest, bin)) return true;
    }
    return false;
  }

  // The smallest bin takes from another one, the largest first.
  bool fill(Tried& tried) {
    const std::size_t cheapest = order_.begin()->second;
    turn_to(cheapest, tried);
    for (auto it = order_.rbegin(); it != order_.rend(); ++it) {
      const auto [load, bin] = *it;
      if (*work_ <= 0 || load - load_[cheapest] <= 1) return false;
      if (tried.with[bin] == version_[bin]) continue;
      tried.with[bin] = version_[bin];
      if (exchange(bin, cheapest)) return true;
    }
    return false;
  }

  const SubsetLists& lists(std::size_t bin) {
    if (lists_[bin].by_size[0].empty()) {
      lists_[bin] = SubsetLists(costs_, bins_[bin], depth_, subsets_);
      *work_ -= 16 * static_cast<std::int64_t>(lists_[bin].size());
    }
    return lists_[bin];
  }

  bool exchange(std::size_t dearer, std::size_t cheaper) {
    const auto count = [&](std::size_t bin) {
      return static_cast<std::int64_t>(bins_[bin].size());
    };
    const ChangeRange change = {
        std::max(count(dearer) - rules_.most, rules_.fewest - count(cheaper)),
        std::min(count(dearer) - rules_.fewest, rules_.most - count(cheaper))};
    const std::int64_t difference = load_[dearer] - load_[cheaper];
    std::optional<BinExchange> best;
    if (depth_ == 1) {
      best = best_swap(costs_, bins_[dearer], bins_[cheaper], difference, change);
      *work_ -= count(dearer) + count(cheaper);
    } else {
      const SubsetLists& from = lists(dearer);
      const SubsetLists& to = lists(cheaper);
      best = best_exchange(from, to, difference, change);
      *work_ -= static_cast<std::int64_t>(from.size() + to.size());
    }
    if (!best) return false;
    const BinExchange chosen = *best;
    for (int i = 0; i < chosen.given; ++i) move(chosen.gives.items[at(i)], dearer, cheaper);
    for (int i = 0; i < chosen.taken; ++i) move(chosen.takes.items[at(i)], cheaper, dearer);
    for (const std::size_t bin : {dearer, cheaper}) {
      order_.erase({load_[bin], bin});
      const std::int64_t gain = chosen.takes.cost - chosen.gives.cost;
      load_[bin] += bin == dearer ? gain : -gain;
      order_.insert({load_[bin], bin});
      ++version_[bin];
      if (depth_ > 1) lists_[bin] = SubsetLists();
    }
    return true;
  }

  // Gives the items of both bins to the two so that one costs about `target`.
  void share_anew(std::size_t a, std::size_t b, std::int64_t target, bool counted) {
    std::vector<std::int32_t> items(bins_[a].size() + bins_[b].size());
    std::ranges::merge(bins_[a], bins_[b], items.begin());
    const std::int64_t sum = load_[a] + load_[b];
    const std::vector<bool> first = split_two(costs_, items, counted, std::abs(sum - 2 * target));
    bins_[a].clear();
    bins_[b].clear();
    load_[a] = 0;
    for (std::size_t i = 0; i < items.size(); ++i) {
      bins_[first[i] ? a : b].push_back(items[i]);
      if (first[i]) load_[a] += costs_[at(items[i])];
    }
    load_[b] = sum - load_[a];
  }

  void reorder() {
    order_.clear();
    for (std::size_t b = 0; b < bins_.size(); ++b) {
      order_.insert({load_[b], b});
      ++version_[b];
    }
  }

  void move(std::int32_t item, std::size_t from, std::size_t to) {
    const auto place = std::ranges::lower_bound(bins_[from], item);
    assert(place != bins_[from].end() && *place == item);
    bins_[from].erase(place);
    bins_[to].insert(std::ranges::lower_bound(bins_[to], item), item);
  }

  std::vector<std::int64_t> costs_;
  BalanceRules rules_;
  ItemBins bins_;  // items ascending
  std::vector<std::int64_t> load_;
  std::set<std::pair<std::int64_t, std::size_t>> order_;  // (load, bin)
  std::vector<SubsetLists> lists_;                        // made when they are asked for
  std::vector<std::int64_t> version_;                     // of a bin: its exchanges so far
  std::int64_t even_ = 0;                                 // no spread is less
  int depth_ = 1;
  std::size_t subsets_ = 0;
  std::int64_t* work_ = nullptr;
};

}  // namespace

std::vector<std::vector<std::int64_t>> balance(std::span<const std::int64_t> costs,
                                               const BalanceRules& rules) {
  const std::vector<Item> order = falling(costs);
  std::vector<std::int64_t> sorted;
  sorted.reserve(costs.size());
  for (const Item& item : order) sorted.push_back(item.cost);
  const auto n = static_cast<std::int64_t>(costs.size());
  const bool free = rules.fewest <= 1 && rules.most >= n - rules.bins + 1;
  const auto from = [&](ItemBins start) {
    Balancing balancing(sorted, rules, std::move(start));
    constexpr std::int64_t kMostWork = 500'000'000;
    constexpr std::int64_t kManyItems = 16;  // of a bin, that two-way differencing is precise with
    std::int64_t work = std::min(kMostWork, free ? 16 * n * rules.bins + 300 * n : 12 * n);
    if (n >= kManyItems * rules.bins) balancing.level(!free);
    balancing.search(1, 0, work);
    for (const int depth : {2, 3}) balancing.search(depth, free ? 500 : 120, work);
    return balancing;
  };
  Balancing balancing =
      from(free ? longest_first(sorted, rules.bins) : differenced_rounds(sorted, rules.bins));
  // Few items in few bins offer few exchanges: another start may lead to better ones.
  constexpr std::int64_t kFew = 2'000;
  if (free && n * rules.bins <= kFew) {
    ItemBins start = differenced_items(sorted, rules.bins);
    if (std::ranges::none_of(start, [](const auto& bin) { return bin.empty(); })) {
      Balancing other = from(std::move(start));
      if (other.better_than(balancing)) balancing = std::move(other);
    }
  }
  std::vector<std::vector<std::int64_t>> made;
  for (const std::vector<std::int32_t>& bin : std::move(balancing).take()) {
    std::vector<std::int64_t> items;
    for (const std::int32_t item : bin) items.push_back(order[at(item)].id);
    std::ranges::sort(items);
    made.push_back(std::move(items));
  }
  return made;
}

}  // namespace stowage
