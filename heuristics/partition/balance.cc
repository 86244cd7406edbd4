#include "heuristics/partition/balance.h"

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "heuristics/partition/differencing.h"
#include "heuristics/partition/exchange.h"
#include "heuristics/partition/start.h"
#include "heuristics/partition/two_way.h"
#include "instances/numeric/numbers.h"
#include "instances/numeric/radix_sort.h"

namespace stowage {
namespace {

// Items by descending cost, equal costs by descending id. In this file an item is named by its
// index in this order.
struct Item {
  std::int64_t cost = 0;
  std::int64_t id = 0;
};
std::vector<Item> falling(std::span<const std::int64_t> costs) {
  std::vector<Item> order;
  order.reserve(costs.size());
  for (std::size_t i = costs.size(); i-- > 0;) {
    order.push_back({costs[i], static_cast<std::int64_t>(i)});
  }
  radix_sort(order, [](const Item& item) { return sort_key(-item.cost); });
  return order;
}

// The cost of the largest bin, and the negated cost of the smallest bin. Smaller is better.
using Extremes = std::pair<std::int64_t, std::int64_t>;

// Returns nullopt if `bins` is empty or contains an empty bin.
std::optional<Extremes> extremes(std::span<const std::int64_t> costs, const ItemBins& bins) {
  std::optional<Extremes> found;
  for (const std::vector<std::int32_t>& bin : bins) {
    if (bin.empty()) return std::nullopt;
    std::int64_t load = 0;
    for (const std::int32_t item : bin) load += costs[at(item)];
    if (!found) found = {load, -load};
    found = {std::max(found->first, load), std::max(found->second, -load)};
  }
  return found;
}

// Returns the ids of the items of each bin, ascending.
std::vector<std::vector<std::int64_t>> by_id(const ItemBins& bins,
                                             std::span<const std::int64_t> ids) {
  std::vector<std::vector<std::int64_t>> made(bins.size());
  std::vector<std::size_t> bin_of(ids.size());
  for (std::size_t b = 0; b < bins.size(); ++b) {
    made[b].reserve(bins[b].size());
    for (const std::int32_t item : bins[b]) bin_of[at(ids[at(item)])] = b;
  }
  for (std::size_t id = 0; id < bin_of.size(); ++id) {
    made[bin_of[id]].push_back(static_cast<std::int64_t>(id));
  }
  return made;
}

constexpr std::int64_t kMovedPerStep = 16;  // array entries moved in the time of one step of work

class Balancing {
 public:
  // `costs` must outlive this.
  Balancing(std::span<const std::int64_t> costs, const BalanceRules& rules, ItemBins bins)
      : costs_(costs), rules_(rules), bins_(std::move(bins)) {
    std::int64_t sum = 0;
    for (std::size_t b = 0; b < bins_.size(); ++b) {
      std::int64_t load = 0;
      for (const std::int32_t item : bins_[b]) load += costs_[at(item)];
      load_.push_back(load);
      order_.emplace_back(load, b);
      sum += load;
    }
    std::ranges::sort(order_);
    even_ = sum % rules.bins == 0 ? 0 : 1;
    version_.assign(bins_.size(), 0);
  }

  // Exchanges up to `depth` items at a time, as long as that helps and `work` steps are left.
  void search(int depth, std::size_t subsets, std::int64_t& work) {
    // If a bin has at most `depth` items, exchanging some of them equals exchanging the others.
    if (most_items() < depth || (rules_.fewest == rules_.most && rules_.most <= depth)) return;
    depth_ = depth;
    subsets_ = subsets;
    work_ = &work;
    if (depth > 1) lists_.assign(bins_.size(), {});
    Tried dear;
    Tried cheap;
    while (work > 0 && spread() > even_) {
      const bool enough = largest() <= rules_.enough;
      if ((enough || !relieve(dear)) && !fill(cheap)) break;
    }
  }

  // Brings one bin after another to the average cost. The most and the least expensive remaining
  // bins share their items anew so that one of them costs the average, and that bin is done. Bins
  // that one item alone makes too expensive are left out. The change is undone if it does not help.
  // It is precise if bins have many items. Requires counts that differ by at most one, unless
  // counts are free.
  void level(bool counted) {
    const ItemBins before = bins_;
    const std::vector<std::int64_t> loads_before = load_;
    const std::int64_t largest_before = largest();
    const std::int64_t smallest_before = smallest();
    std::set<std::pair<std::int64_t, std::size_t>> left(order_.begin(), order_.end());
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
    const std::int64_t now = largest();
    const bool filled = std::ranges::none_of(bins_, [](const auto& bin) { return bin.empty(); });
    if (filled &&
        (now < largest_before || (now == largest_before && smallest() >= smallest_before))) {
      return;
    }
    bins_ = before;
    load_ = loads_before;
    reorder();
  }

  std::int64_t most_items() const {
    std::size_t most = 0;
    for (const auto& bin : bins_) most = std::max(most, bin.size());
    return static_cast<std::int64_t>(most);
  }

  std::int64_t largest() const { return order_.back().first; }
  std::int64_t smallest() const { return order_.front().first; }

  Extremes extremes() const { return {largest(), -smallest()}; }
  ItemBins take() && { return std::move(bins_); }

 private:
  // The partners that an extreme bin has been tried with, by the partner's version.
  struct Tried {
    std::size_t bin = std::numeric_limits<std::size_t>::max();
    std::int64_t version = -1;
    std::vector<std::int64_t> with;
  };

  std::int64_t spread() const { return largest() - smallest(); }

  void turn_to(std::size_t bin, Tried& tried) const {
    if (tried.bin == bin && tried.version == version_[bin]) return;
    tried = {bin, version_[bin], std::vector<std::int64_t>(bins_.size(), -1)};
  }

  // Moves cost from the largest bin to another bin, trying the smallest bins first. Returns false
  // if no exchange helps.
  bool relieve(Tried& tried) {
    const std::size_t dearest = order_.back().second;
    turn_to(dearest, tried);
    for (const auto& [load, bin] : order_) {
      if (*work_ <= 0 || load_[dearest] - load <= 1) return false;
      if (tried.with[bin] == version_[bin]) continue;
      tried.with[bin] = version_[bin];
      if (exchange(dearest, bin)) return true;
    }
    return false;
  }

  // Moves cost to the smallest bin from another bin, trying the largest bins first. Returns false
  // if no exchange helps.
  bool fill(Tried& tried) {
    const std::size_t cheapest = order_.front().second;
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
    const std::int64_t given = chosen.gives.cost - chosen.takes.cost;
    for (const std::size_t bin : {dearer, cheaper}) {
      set_load(bin, load_[bin] + (bin == dearer ? -given : given));
      ++version_[bin];
      if (depth_ > 1) lists_[bin] = SubsetLists();
    }
    return true;
  }

  // Distributes the items of both bins so that one of the bins costs about `target`.
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

  void set_load(std::size_t bin, std::int64_t load) {
    const std::pair before(load_[bin], bin);
    const std::pair now(load, bin);
    const auto from = std::ranges::lower_bound(order_, before);
    const auto to = std::ranges::lower_bound(order_, now);
    *from = now;
    *work_ -= std::abs(to - from) / kMovedPerStep;
    if (from < to) {
      std::rotate(from, from + 1, to);
    } else {
      std::rotate(to, from, from + 1);
    }
    load_[bin] = load;
  }

  void reorder() {
    for (std::size_t b = 0; b < bins_.size(); ++b) {
      order_[b] = {load_[b], b};
      ++version_[b];
    }
    std::ranges::sort(order_);
  }

  void move(std::int32_t item, std::size_t from, std::size_t to) {
    const auto place = std::ranges::lower_bound(bins_[from], item);
    assert(place != bins_[from].end() && *place == item);
    bins_[from].erase(place);
    bins_[to].insert(std::ranges::lower_bound(bins_[to], item), item);
  }

  std::span<const std::int64_t> costs_;
  BalanceRules rules_;
  ItemBins bins_;  // items of each bin, ascending
  std::vector<std::int64_t> load_;
  std::vector<std::pair<std::int64_t, std::size_t>> order_;  // (load, bin), ascending
  std::vector<SubsetLists> lists_;                           // computed on demand
  std::vector<std::int64_t> version_;  // number of exchanges of each bin so far
  std::int64_t even_ = 0;              // lower bound on the spread
  int depth_ = 1;
  std::size_t subsets_ = 0;
  std::int64_t* work_ = nullptr;
};

}  // namespace

std::vector<std::vector<std::int64_t>> balance(std::span<const std::int64_t> costs,
                                               const BalanceRules& rules) {
  const std::vector<Item> order = falling(costs);
  std::vector<std::int64_t> sorted;
  std::vector<std::int64_t> ids;
  sorted.reserve(costs.size());
  ids.reserve(costs.size());
  for (const Item& item : order) {
    sorted.push_back(item.cost);
    ids.push_back(item.id);
  }
  const auto n = static_cast<std::int64_t>(costs.size());
  const bool free = rules.fewest <= 1 && rules.most >= n - rules.bins + 1;
  const auto improve = [&](Balancing& balancing) {
    constexpr std::int64_t kMaxWork = 500'000'000;
    // Items per bin from which two-way differencing is precise.
    constexpr std::int64_t kManyItems = 16;
    std::int64_t work = std::min(kMaxWork, free ? 4 * n * rules.bins + 100 * n : 12 * n);
    if (n >= kManyItems * rules.bins) balancing.level(!free);
    balancing.search(1, 0, work);
    for (const int depth : {2, 3}) balancing.search(depth, free ? 500 : 120, work);
  };
  std::optional<ItemBins> start;
  start = free ? longest_first(sorted, rules.bins) : giants_apart(sorted, ids, rules.bins);
  ItemBins differencing;
  constexpr std::int64_t kMaxDifferenced = 100'000'000;  // steps in the worst case
  if (!free || n <= kMaxDifferenced / rules.bins) {
    differencing = differenced(std::span<const std::int64_t>(sorted), ids, rules.bins,
                               free ? 1 : at(rules.bins));
  }
  if (!start) start = std::exchange(differencing, {});
  Balancing balancing(sorted, rules, *std::move(start));
  improve(balancing);
  // Differencing alone may still be better. Few items in few bins allow few exchanges, so that
  // another start may lead to better bins.
  constexpr std::int64_t kFew = 2'000;
  const bool few = free && n * rules.bins <= kFew;
  if (const auto other = extremes(sorted, differencing);
      other && (few || *other < balancing.extremes())) {
    Balancing second(sorted, rules, std::move(differencing));
    improve(second);
    if (second.extremes() < balancing.extremes()) balancing = std::move(second);
  }
  return by_id(std::move(balancing).take(), ids);
}

}  // namespace stowage
