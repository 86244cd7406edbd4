#include "heuristics/partition/micro_batch_packing.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>
#include <utility>

#include "heuristics/packing.h"
#include "heuristics/partition/balance.h"
#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

// Bin of each unit of a list; empty: no packing was found.
using BinOf = std::vector<std::int32_t>;

// Returns the bins of first-fit decreasing and of best-fit decreasing.
std::vector<Bins> first_fits(std::span<const CappedUnit> units, Tokens max_tokens) {
  std::vector<Tokens> sizes;
  for (const CappedUnit& unit : units) sizes.push_back(unit.tokens);
  std::vector<Bins> made;
  for (auto* rule : {first_fit_decreasing, best_fit_decreasing}) {
    if (auto bins = rule(sizes, max_tokens)) made.push_back(*std::move(bins));
  }
  return made;
}

class MicroBatchPacking {
 public:
  // `units` have descending costs.
  MicroBatchPacking(std::span<const CappedUnit> units, const MicroBatchRules& rules)
      : units_(units), rules_(rules) {
    for (const CappedUnit& unit : units_) costs_.push_back(unit.cost);
  }

  // Returns the bin of each unit; the bins of rank r are r * each and the next ones.
  BinOf ranks_first() const {
    std::vector<std::vector<std::int64_t>> ranks = balance(
        costs_,
        {.bins = rules_.ranks, .fewest = rules_.each, .most = std::ssize(units_), .enough = 0});
    if (BinOf found = packed_ranks(ranks); !found.empty()) return found;
    // Ranks of short sequences have too many tokens. So ranks keep a limit as well, which leaves
    // their micro-batches room, the most that a packing succeeds with.
    for (const Tokens part : MicroBatchParams().free_parts) {
      std::int64_t work = MicroBatchParams().work;
      const BinOf rank_of = evened(
          units_, rules_.ranks, rules_.each * (rules_.max_tokens - rules_.max_tokens / part), work);
      if (rank_of.empty()) continue;
      ranks.assign(at(rules_.ranks), {});
      for (std::size_t u = 0; u < rank_of.size(); ++u) {
        ranks[at(rank_of[u])].push_back(static_cast<std::int64_t>(u));
      }
      if (BinOf found = packed_ranks(ranks); !found.empty()) return found;
    }
    return {};
  }

  BinOf micro_batches_first() const {
    std::int64_t work = MicroBatchParams().work;
    const std::int64_t bins = rules_.ranks * rules_.each;
    return shared_out(evened(units_, bins, rules_.max_tokens, work));
  }

  // Starts with the bins of first-fit in the order that `sizes` has; entry i of `place` is the unit
  // of size i.
  BinOf first_fit_first(std::span<const Tokens> sizes, std::span<const std::int32_t> place) const {
    const std::int64_t bins = rules_.ranks * rules_.each;
    std::optional<Bins> made = first_fit(sizes, rules_.max_tokens);
    if (!made || std::ssize(*made) > bins) return {};
    for (std::vector<int>& bin : *made) {
      for (int& unit : bin) unit = place[at(unit)];
    }
    std::int64_t work = MicroBatchParams().work;
    return shared_out(
        exchanged(units_, split(*std::move(made), units_, bins), bins, rules_.max_tokens, work));
  }

  // Returns the largest cost of a rank, and of a micro-batch. Smaller is better.
  std::pair<std::int64_t, std::int64_t> largest(const BinOf& bin_of) const {
    const CappedExchange state(units_, rules_.max_tokens, bin_of, rank_of_bins());
    return {state.largest_group(), state.largest_bin()};
  }

 private:
  // Shares the bins out among the ranks; an empty list stays empty.
  BinOf shared_out(BinOf bin_of) const {
    if (bin_of.empty()) return {};
    std::vector<std::int64_t> bin_costs(at(rules_.ranks * rules_.each), 0);
    for (std::size_t u = 0; u < units_.size(); ++u) bin_costs[at(bin_of[u])] += units_[u].cost;
    const auto ranks = balance(
        bin_costs, {.bins = rules_.ranks, .fewest = rules_.each, .most = rules_.each, .enough = 0});
    std::vector<std::int32_t> place(bin_costs.size());
    std::int32_t next = 0;
    for (const auto& rank : ranks) {
      for (const std::int64_t bin : rank) place[at(bin)] = next++;
    }
    for (std::int32_t& bin : bin_of) bin = place[at(bin)];
    return between_ranks(std::move(bin_of));
  }

  std::vector<std::int32_t> rank_of_bins() const {
    std::vector<std::int32_t> ranks;
    for (std::int64_t b = 0; b < rules_.ranks * rules_.each; ++b) {
      ranks.push_back(static_cast<std::int32_t>(b / rules_.each));
    }
    return ranks;
  }

  BinOf between_ranks(BinOf bin_of) const {
    std::int64_t work = MicroBatchParams().work;
    CappedExchange search(units_, rules_.max_tokens, std::move(bin_of), rank_of_bins());
    search.run(work);
    return std::move(search).take();
  }

  // Packs the units of each rank. Returns an empty list if one of them does not fit.
  BinOf packed_ranks(const std::vector<std::vector<std::int64_t>>& ranks) const {
    std::int64_t work = MicroBatchParams().work;
    BinOf bin_of(units_.size());
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      if (std::ssize(ranks[r]) < rules_.each) return {};
      std::vector<CappedUnit> own;
      for (const std::int64_t unit : ranks[r]) own.push_back(units_[at(unit)]);
      const BinOf packed = evened(own, rules_.each, rules_.max_tokens, work);
      if (packed.empty()) return {};
      for (std::size_t i = 0; i < own.size(); ++i) {
        bin_of[at(ranks[r][i])] =
            static_cast<std::int32_t>(static_cast<std::int64_t>(r) * rules_.each) + packed[i];
      }
    }
    return between_ranks(std::move(bin_of));
  }

  // Packs units of descending costs into bins of nearly equal cost.
  static BinOf evened(std::span<const CappedUnit> units, std::int64_t bins, Tokens capacity,
                      std::int64_t& work) {
    BinOf bin_of = cheapest_with_room(units, bins, capacity);
    if (bin_of.empty()) bin_of = balanced_tokens(units, bins, capacity);
    if (bin_of.empty()) bin_of = fitted(units, bins, capacity);
    return bin_of.empty() ? bin_of : exchanged(units, std::move(bin_of), bins, capacity, work);
  }

  static BinOf exchanged(std::span<const CappedUnit> units, BinOf bin_of, std::int64_t bins,
                         Tokens capacity, std::int64_t& work) {
    std::vector<std::int32_t> own(at(bins));
    std::iota(own.begin(), own.end(), 0);
    CappedExchange search(units, capacity, std::move(bin_of), std::move(own));
    search.run(work);
    return std::move(search).take();
  }

  static BinOf cheapest_with_room(std::span<const CappedUnit> units, std::int64_t bins,
                                  Tokens capacity) {
    std::vector<double> loads;
    std::vector<Tokens> sizes;
    for (const CappedUnit& unit : units) {
      loads.push_back(static_cast<double>(unit.cost));
      sizes.push_back(unit.tokens);
    }
    const auto found = longest_processing_time(loads, sizes, static_cast<int>(bins), capacity);
    return found ? bin_of_each(*found, units.size()) : BinOf();
  }

  static BinOf balanced_tokens(std::span<const CappedUnit> units, std::int64_t bins,
                               Tokens capacity) {
    std::vector<std::int64_t> tokens;
    for (const CappedUnit& unit : units) tokens.push_back(unit.tokens);
    const auto found = balance(
        tokens,
        {.bins = bins, .fewest = 1, .most = std::ssize(units) - bins + 1, .enough = capacity});
    BinOf bin_of(units.size());
    for (std::size_t b = 0; b < found.size(); ++b) {
      Tokens sum = 0;
      for (const std::int64_t unit : found[b]) {
        sum += units[at(unit)].tokens;
        bin_of[at(unit)] = static_cast<std::int32_t>(b);
      }
      if (sum > capacity) return {};
    }
    return bin_of;
  }

  // Returns the bins of the better of the first-fit rules, split.
  static BinOf fitted(std::span<const CappedUnit> units, std::int64_t bins, Tokens capacity) {
    Bins best;
    for (Bins& made : first_fits(units, capacity)) {
      if (best.empty() || made.size() < best.size()) best = std::move(made);
    }
    return std::ssize(best) > bins ? BinOf() : split(std::move(best), units, bins);
  }

  // Splits the most expensive bins of several units until there are as many as asked for.
  static BinOf split(Bins best, std::span<const CappedUnit> units, std::int64_t bins) {
    const auto cost = [&](const std::vector<int>& bin) {
      std::int64_t sum = 0;
      for (const int unit : bin) sum += units[at(unit)].cost;
      return bin.size() > 1 ? sum : 0;
    };
    std::set<std::pair<std::int64_t, std::size_t>> dearest;
    for (std::size_t b = 0; b < best.size(); ++b) dearest.emplace(cost(best[b]), b);
    while (std::ssize(best) < bins) {
      const std::size_t from = std::prev(dearest.end())->second;
      dearest.erase(std::prev(dearest.end()));
      std::vector<int> halves[2];
      std::int64_t sums[2] = {0, 0};
      std::ranges::sort(best[from]);
      for (const int unit : best[from]) {
        const int half = sums[0] <= sums[1] ? 0 : 1;
        halves[half].push_back(unit);
        sums[half] += units[at(unit)].cost;
      }
      best[from] = std::move(halves[0]);
      dearest.emplace(cost(best[from]), from);
      dearest.emplace(cost(halves[1]), best.size());
      best.push_back(std::move(halves[1]));
    }
    return bin_of_each(best, units.size());
  }

  static BinOf bin_of_each(const Bins& bins, std::size_t units) {
    BinOf bin_of(units);
    for (std::size_t b = 0; b < bins.size(); ++b) {
      for (const int unit : bins[b]) bin_of[at(unit)] = static_cast<std::int32_t>(b);
    }
    return bin_of;
  }

  std::span<const CappedUnit> units_;
  MicroBatchRules rules_;
  std::vector<std::int64_t> costs_;
};

// Indices of the units by descending cost, ties by index.
std::vector<std::int64_t> dearest_first(std::span<const CappedUnit> units) {
  std::vector<std::int64_t> order(units.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater<>(),
                           [&](std::int64_t unit) { return units[at(unit)].cost; });
  return order;
}

}  // namespace

std::optional<std::vector<std::vector<std::int64_t>>> pack_micro_batches(
    std::span<const CappedUnit> units, const MicroBatchRules& rules) {
  const std::vector<std::int64_t> order = dearest_first(units);
  std::vector<CappedUnit> falling;
  for (const std::int64_t unit : order) falling.push_back(units[at(unit)]);
  const MicroBatchPacking packing(falling, rules);
  BinOf best = packing.ranks_first();
  if (rules.ranks > 1 || best.empty()) {
    BinOf second = packing.micro_batches_first();
    const bool better =
        !second.empty() && (best.empty() || packing.largest(second) < packing.largest(best));
    if (better) best = std::move(second);
  }
  if (best.empty()) {
    std::vector<Tokens> sizes;
    std::vector<std::int32_t> place(order.size());
    for (const CappedUnit& unit : units) sizes.push_back(unit.tokens);
    for (std::size_t i = 0; i < order.size(); ++i) {
      place[at(order[i])] = static_cast<std::int32_t>(i);
    }
    best = packing.first_fit_first(sizes, place);
  }
  if (best.empty()) return std::nullopt;
  std::vector<std::vector<std::int64_t>> bins(at(rules.ranks * rules.each));
  for (std::size_t i = 0; i < order.size(); ++i) bins[at(best[i])].push_back(order[i]);
  for (std::vector<std::int64_t>& bin : bins) std::ranges::sort(bin);
  return bins;
}

}  // namespace stowage
