#include "heuristics/partition/capped_exchange.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

void insert_sorted(std::vector<std::int32_t>& units, std::int32_t unit) {
  units.insert(std::ranges::lower_bound(units, unit), unit);
}

void erase_sorted(std::vector<std::int32_t>& units, std::int32_t unit) {
  units.erase(std::ranges::lower_bound(units, unit));
}

}  // namespace

CappedExchange::CappedExchange(std::span<const CappedUnit> units, Tokens capacity,
                               std::vector<std::int32_t> bin_of, std::vector<std::int32_t> group_of,
                               const MicroBatchParams& params)
    : units_(units),
      capacity_(capacity),
      bin_of_(std::move(bin_of)),
      group_of_(std::move(group_of)),
      bins_(group_of_.size()),
      params_(params) {
  const std::int32_t groups = *std::ranges::max_element(group_of_) + 1;
  bins_of_group_.resize(at(groups));
  units_of_group_.resize(at(groups));
  group_cost_.assign(at(groups), 0);
  version_.assign(at(groups), 0);
  for (std::size_t b = 0; b < bins_.size(); ++b) {
    bins_of_group_[at(group_of_[b])].push_back(static_cast<std::int32_t>(b));
  }
  for (std::size_t u = 0; u < units_.size(); ++u) {
    Bin& bin = bins_[at(bin_of_[u])];
    bin.tokens += units_[u].tokens;
    bin.cost += units_[u].cost;
    ++bin.units;
    const auto group = at(group_of_[at(bin_of_[u])]);
    units_of_group_[group].push_back(static_cast<std::int32_t>(u));
    group_cost_[group] += units_[u].cost;
  }
  for (std::int32_t g = 0; g < groups; ++g) by_cost_.emplace(group_cost_[at(g)], g);
  bin_limit_ = largest_bin();
}

std::int64_t CappedExchange::largest_bin() const {
  return std::ranges::max_element(bins_, {}, &Bin::cost)->cost;
}

void CappedExchange::run(std::int64_t& work) {
  work_ = work;
  while (work_ > 0 && (improve(true) || improve(false))) {
  }
  work = work_;
}

// Exchanges units between the dearest (or the cheapest) group and another one. Returns false if no
// exchange helps.
bool CappedExchange::improve(bool dearest) {
  const std::int64_t cost = dearest ? by_cost_.rbegin()->first : by_cost_.begin()->first;
  const std::int32_t group = dearest ? by_cost_.rbegin()->second : by_cost_.begin()->second;
  Tried& tried = tried_[dearest ? 0 : 1];
  if (tried.group != group || tried.version != version_[at(group)]) {
    tried = {group, version_[at(group)], std::vector<std::int64_t>(version_.size(), -1)};
  }
  const auto with = [&](const std::pair<std::int64_t, std::int32_t>& other) {
    if (tried.with[at(other.second)] == version_[at(other.second)]) return false;
    tried.with[at(other.second)] = version_[at(other.second)];
    const std::int32_t dearer = dearest ? group : other.second;
    const std::int32_t cheaper = dearest ? other.second : group;
    const std::optional<Exchange> found = best(dearer, cheaper);
    if (found) apply(*found, dearer, cheaper);
    return found.has_value();
  };
  if (dearest) {
    for (auto it = by_cost_.begin(); it != by_cost_.end(); ++it) {
      if (work_ <= 0 || cost - it->first <= 1) return false;
      if (with(*it)) return true;
    }
    return false;
  }
  for (auto it = by_cost_.rbegin(); it != by_cost_.rend(); ++it) {
    if (work_ <= 0 || it->first - cost <= 1) return false;
    if (with(*it)) return true;
  }
  return false;
}

std::optional<CappedExchange::Exchange> CappedExchange::best(std::int32_t dearer,
                                                             std::int32_t cheaper) {
  const std::int64_t difference = group_cost_[at(dearer)] - group_cost_[at(cheaper)];
  Exchange best;
  for (const std::int32_t given : units_of_group_[at(dearer)]) {
    consider_move(given, cheaper, difference, best);
    consider_swaps(given, cheaper, difference, best);
    if (best.from_even <= 1) break;
  }
  return best.given == kNoUnit ? std::nullopt : std::optional(best);
}

// Moves `given` into the cheapest bin of the group with room, if its own bin keeps another unit.
void CappedExchange::consider_move(std::int32_t given, std::int32_t cheaper,
                                   std::int64_t difference, Exchange& best) {
  const std::int64_t moved = units_[at(given)].cost;
  const std::int64_t from_even = std::abs(2 * moved - difference);
  if (moved >= difference || from_even >= best.from_even) return;
  if (bins_[at(bin_of_[at(given)])].units < 2) return;
  const std::vector<std::int32_t>& bins = bins_of_group_[at(cheaper)];
  work_ -= std::ssize(bins);
  std::int32_t into = kNoUnit;
  for (const std::int32_t bin : bins) {
    const bool cheapest = into == kNoUnit || bins_[at(bin)].cost < bins_[at(into)].cost;
    if (cheapest && fits(bin, kNoUnit, given)) into = bin;
  }
  if (into != kNoUnit) best = {given, kNoUnit, into, from_even};
}

// Swaps `given` with a unit of the group that costs about half the difference less.
void CappedExchange::consider_swaps(std::int32_t given, std::int32_t cheaper,
                                    std::int64_t difference, Exchange& best) {
  const std::vector<std::int32_t>& others = units_of_group_[at(cheaper)];
  const std::int64_t ideal = units_[at(given)].cost - difference / 2;
  const auto middle = std::ranges::partition_point(
      others, [&](std::int32_t unit) { return units_[at(unit)].cost > ideal; });
  const auto first = middle - std::min(params_.neighbours, middle - others.begin());
  const auto last = middle + std::min(params_.neighbours, others.end() - middle);
  work_ -= 1 + (last - first);
  for (auto it = first; it != last; ++it) {
    const std::int64_t moved = units_[at(given)].cost - units_[at(*it)].cost;
    const std::int64_t from_even = std::abs(2 * moved - difference);
    if (moved <= 0 || moved >= difference || from_even >= best.from_even) continue;
    const std::int32_t into = bin_of_[at(*it)];
    if (fits(into, *it, given) && fits(bin_of_[at(given)], given, *it)) {
      best = {given, *it, into, from_even};
    }
  }
}

bool CappedExchange::fits(std::int32_t bin, std::int32_t leaves, std::int32_t enters) const {
  const auto unit = [&](std::int32_t u) { return u == kNoUnit ? CappedUnit() : units_[at(u)]; };
  const Bin& now = bins_[at(bin)];
  return now.tokens - unit(leaves).tokens + unit(enters).tokens <= capacity_ &&
         now.cost - unit(leaves).cost + unit(enters).cost <= bin_limit_;
}

void CappedExchange::apply(const Exchange& exchange, std::int32_t dearer, std::int32_t cheaper) {
  for (const std::int32_t group : {dearer, cheaper}) {
    by_cost_.erase({group_cost_[at(group)], group});
    ++version_[at(group)];
  }
  const std::int32_t from = bin_of_[at(exchange.given)];
  put(exchange.given, exchange.into);
  if (exchange.taken != kNoUnit) put(exchange.taken, from);
  for (const std::int32_t group : {dearer, cheaper}) {
    by_cost_.emplace(group_cost_[at(group)], group);
  }
}

void CappedExchange::put(std::int32_t unit, std::int32_t bin) {
  const auto& [tokens, cost] = units_[at(unit)];
  for (const bool enters : {false, true}) {
    const std::int32_t place = enters ? bin : bin_of_[at(unit)];
    const std::int64_t sign = enters ? 1 : -1;
    bins_[at(place)].tokens += sign * tokens;
    bins_[at(place)].cost += sign * cost;
    bins_[at(place)].units += sign;
    const std::int32_t group = group_of_[at(place)];
    group_cost_[at(group)] += sign * cost;
    (enters ? insert_sorted : erase_sorted)(units_of_group_[at(group)], unit);
  }
  bin_of_[at(unit)] = bin;
}

}  // namespace stowage
