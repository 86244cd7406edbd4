#include "formulations/assign/lp/configuration_lp.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <utility>

#include "instances/numeric/numbers.h"
#include "instances/numeric/tolerances.h"

namespace stowage {
namespace {

constexpr int kGrid = 2048;           // parts of a knapsack's room
constexpr std::int64_t kRanges = 8;   // row numbers that get a range of their own
constexpr double kDown = 1 - 1e-11;   // rounds weights down
constexpr double kUp = 1 + 1e-11;     // rounds room up
constexpr double kBroken = 1 + 1e-7;  // smaller violations are rounding errors of the LP
constexpr double kTiny = 1e-12;
constexpr double kKept = 0.5;  // weight of the best prices in the smoothed prices
constexpr double kNear = 1 - 2e-5;
constexpr int kBisections = 20;
constexpr std::size_t kAtOnce = 4;  // configurations added per scheme and row range

}  // namespace

ConfigurationLp::ConfigurationLp(const AssignTable& table, int strategy, Ms time)
    : table_(table), strategy_(strategy), time_(time), knapsack_(kGrid) {
  fill_greedily();
  build();
}

// Adds for each kind, as the longest one, a configuration filled greedily with the longest
// sequences that fit. So the first prices are high for sequences that are hard to place.
void ConfigurationLp::fill_greedily() {
  const std::vector<AssignKind>& kinds = table_.kinds();
  const std::vector<SchemeGroup>& groups = table_.groups(strategy_);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const Scheme& own = table_.schemes()[at(groups[g].scheme)];
    for (std::size_t first = 0; first < kinds.size(); ++first) {
      if (kinds[first].length > own.max_tokens) continue;
      Ms left = most_work(own, {1, 0}, table_.kind_work(static_cast<int>(first), groups[g].scheme),
                          time_);
      Configuration full{.group = g};
      for (std::size_t k = first; k < kinds.size(); ++k) {
        const Ms work = table_.kind_work(static_cast<int>(k), groups[g].scheme);
        for (int n = 0; n < kinds[k].count && work <= left; ++n, left -= work) {
          full.kinds.push_back(static_cast<int>(k));
        }
        if (k == first && full.kinds.empty()) break;
      }
      std::ranges::reverse(full.kinds);
      if (!full.kinds.empty()) met_.push_back(std::move(full));
    }
  }
}

void ConfigurationLp::set_time(Ms time) {
  time_ = time;
  best_.clear();
  std::erase_if(met_, [&](const Configuration& each) { return !fits(each); });
  fill_greedily();
  build();
}

// The first variable is rho. The others are the configurations in the order of their generation.
void ConfigurationLp::build() {
  model_ = {};
  const int rho = model_.add_variable({.name = "rho", .objective = 1});
  for (std::size_t k = 0; k < table_.kinds().size(); ++k) {
    model_.add_row(
        {.name = "K1_" + std::to_string(k), .lower = static_cast<double>(table_.kinds()[k].count)});
  }
  for (const SchemeGroup& group : table_.groups(strategy_)) {
    model_.add_row({.name = "K2_" + std::to_string(group.scheme),
                    .lower = 0,
                    .terms = {{rho, static_cast<double>(group.count)}}});
  }
  for (const Configuration& each : met_) add_variable(each);
}

void ConfigurationLp::add_variable(const Configuration& configuration) {
  const int x = model_.add_variable({.name = "x_" + std::to_string(model_.variables().size())});
  const std::vector<int>& kinds = configuration.kinds;
  for (std::size_t i = 0; i < kinds.size();) {
    std::size_t next = i;
    while (next < kinds.size() && kinds[next] == kinds[i]) ++next;
    model_.add_term(kinds[i], {x, static_cast<double>(next - i)});
    i = next;
  }
  const int group = static_cast<int>(table_.kinds().size() + configuration.group);
  model_.add_term(group, {x, -1});
}

bool ConfigurationLp::a_kind_fits_nowhere() {
  std::vector<bool> held(table_.kinds().size(), false);
  for (const Configuration& each : met_) {
    for (const int kind : each.kinds) held[at(kind)] = true;
  }
  const auto first = std::ranges::find(held, false);
  if (first == held.end()) return false;
  best_.assign(held.size(), 0);
  best_[static_cast<std::size_t>(first - held.begin())] = 1;
  ratio_ = 0;
  return true;
}

// Returns true if the knapsack of work admits the configuration in some number of rows.
bool ConfigurationLp::fits(const Configuration& configuration) const {
  const int scheme = table_.groups(strategy_)[configuration.group].scheme;
  Ms work = 0;
  for (const int kind : configuration.kinds) work += table_.kind_work(kind, scheme);
  const Ms longest = table_.kind_work(configuration.kinds.back(), scheme);
  return work <= most_work(table_.schemes()[at(scheme)], {1, 0}, longest, time_);
}

bool ConfigurationLp::tokens_bind(const Scheme& scheme, const RowRange& range) const {
  const Ms work = most_work(scheme, range, 0, time_);
  const double tokens = static_cast<double>(range.most) * static_cast<double>(scheme.max_tokens);
  return range.most > 0 && work > scheme.linear_ms * tokens;
}

// Returns single row numbers as long as tokens may bind, then one range of all larger numbers.
std::vector<RowRange> ConfigurationLp::ranges(const Scheme& scheme) const {
  std::vector<RowRange> all;
  for (std::int64_t rows = 1; rows < kRanges; ++rows) {
    const RowRange one{rows, rows};
    if (!tokens_bind(scheme, one)) break;
    all.push_back(one);
  }
  all.push_back({static_cast<std::int64_t>(all.size()) + 1, 0});
  return all;
}

ConfigurationLp::Priced ConfigurationLp::price(std::span<const double> duals) {
  const std::size_t kinds = table_.kinds().size();
  std::vector<double> own(kinds);
  for (std::size_t k = 0; k < kinds; ++k) own[k] = std::max(0.0, duals[k]);
  const std::span<const double> spent = duals.subspan(kinds);
  // Smoothed prices: between the LP's prices, which jump, and the best prices so far. If they give
  // no configuration, use the LP's prices.
  if (!best_.empty()) {
    std::vector<double> between(kinds);
    for (std::size_t k = 0; k < kinds; ++k) between[k] = kKept * best_[k] + (1 - kKept) * own[k];
    const Priced found = price_at(between, own, spent);
    if (found.refuted || found.added > 0) return found;
  }
  return price_at(own, own, spent);
}

// Solves the knapsacks at the prices `here`. Configurations that violate `own` become variables.
ConfigurationLp::Priced ConfigurationLp::price_at(const std::vector<double>& here,
                                                  const std::vector<double>& own,
                                                  std::span<const double> spent) {
  Priced found;
  const std::vector<SchemeGroup>& groups = table_.groups(strategy_);
  double all = 0;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    std::vector<Share> shares = dearest(groups[g].scheme, here);
    if (shares.empty()) continue;
    all += shares.front().paid * groups[g].count;
    for (Share& share : shares) {
      double paid = 0;
      for (const int kind : share.kinds) paid += own[at(kind)];
      if (!(paid > spent[g] * kBroken + kTiny)) continue;
      met_.push_back({g, std::move(share.kinds)});
      add_variable(met_.back());
      ++found.added;
    }
  }
  const double ratio = all / paid_by_all(here);
  if (best_.empty() || ratio < ratio_) {
    best_ = here;
    ratio_ = ratio;
  }
  found.refuted = ratio * (1 + kBoundMargin) < 1;
  return found;
}

double ConfigurationLp::paid_by_all(const std::vector<double>& prices) const {
  double paid = 0;
  for (std::size_t k = 0; k < prices.size(); ++k) paid += prices[k] * table_.kinds()[k].count;
  return paid;
}

Ms ConfigurationLp::proven(Ms known, Ms upper) {
  if (best_.empty()) return known;
  const Ms asked = time_;
  Ms low = known;
  Ms high = upper;
  for (int k = 0; k < kBisections && low < high * kNear; ++k) {
    time_ = low + (high - low) / 2;
    double all = 0;
    for (const SchemeGroup& group : table_.groups(strategy_)) {
      all += most_paid(group.scheme, best_) * group.count;
    }
    (all * (1 + kBoundMargin) < paid_by_all(best_) ? low : high) = time_;
  }
  time_ = asked;
  return low;
}

StrategyProof ConfigurationLp::proof(std::string strategy) const {
  StrategyProof proof{.strategy = std::move(strategy), .by = "configurations"};
  for (std::size_t k = 0; k < best_.size(); ++k) {
    if (best_[k] > 0) proof.prices.push_back({table_.kinds()[k].length, best_[k]});
  }
  return proof;
}

// Returns the unit to which prices are rounded up, a part of all payments, so that the knapsack's
// sums are exact.
double ConfigurationLp::part_of(const std::vector<double>& prices) const {
  return paid_by_all(prices) / (GridKnapsack::kMaxPaid - static_cast<double>(table_.size()));
}

// Returns the kinds with a price that the scheme holds, shortest first, with prices in units.
std::vector<ConfigurationLp::Item> ConfigurationLp::items_of(
    int scheme, const std::vector<double>& prices) const {
  const double part = part_of(prices);
  std::vector<Item> items;
  for (auto k = static_cast<int>(prices.size()) - 1; k >= 0; --k) {
    const AssignKind& kind = table_.kinds()[at(k)];
    if (!(prices[at(k)] > 0) || kind.length > table_.schemes()[at(scheme)].max_tokens) continue;
    const auto price = static_cast<float>(std::ceil(prices[at(k)] / part * kUp));
    items.insert(items.end(), at(kind.count), Item{k, price});
  }
  return items;
}

// Returns the most expensive contents of a replica, most expensive first. The lesser of the
// knapsacks of work and of tokens counts, for each number of rows.
std::vector<ConfigurationLp::Share> ConfigurationLp::dearest(int scheme,
                                                             const std::vector<double>& prices) {
  const Scheme& own = table_.schemes()[at(scheme)];
  const std::vector<Item> items = items_of(scheme, prices);
  std::vector<Share> all;
  for (const RowRange& range : ranges(own)) {
    std::vector<Share> shares;
    for (const End& end : by_work(scheme, range, items)) {
      shares.push_back(taken(items, end));
    }
    if (shares.empty()) continue;
    const double most = all.empty() ? 0 : all.front().paid;
    if (shares.front().paid > most && tokens_bind(own, range)) {
      const End end = by_tokens(scheme, range, items);
      if (end.paid < shares.front().paid) shares = {taken(items, end)};
    }
    if (shares.front().paid > most) {
      all.insert(all.begin(), std::make_move_iterator(shares.begin()),
                 std::make_move_iterator(shares.end()));
    }
  }
  const double part = part_of(prices);
  for (Share& share : all) share.paid *= part;
  return all;
}

// Returns the payment of the first entry of dearest().
double ConfigurationLp::most_paid(int scheme, const std::vector<double>& prices) {
  const Scheme& own = table_.schemes()[at(scheme)];
  const std::vector<Item> items = items_of(scheme, prices);
  double most = 0;
  for (const RowRange& range : ranges(own)) {
    const std::vector<End> ends = by_work(scheme, range, items);
    if (ends.empty() || !(ends.front().paid > most)) continue;
    double paid = ends.front().paid;
    if (tokens_bind(own, range)) {
      paid = std::min(paid, by_tokens(scheme, range, items).paid);
    }
    most = std::max(most, paid);
  }
  return most * part_of(prices);
}

// The longest sequence reduces the work that a pipeline has time for. The knapsack is filled from
// the shortest sequence on, so that its value after each item belongs to that item as the longest
// sequence.
std::vector<ConfigurationLp::End> ConfigurationLp::by_work(int scheme, const RowRange& range,
                                                           std::span<const Item> items) {
  const Scheme& own = table_.schemes()[at(scheme)];
  const Ms room = most_work(own, range, 0, time_);
  if (!(room > 0)) return {};
  const Ms part = room / kGrid;
  std::vector<End> ends;
  knapsack_.clear();
  for (std::size_t i = 0; i < items.size(); ++i) {
    const Ms work = table_.kind_work(items[i].kind, scheme);
    const Ms least = most_work(own, range, work, time_);
    if (work > least * kUp) break;  // longer sequences do not fit either
    const auto reach =
        static_cast<std::size_t>(std::min(kGrid, static_cast<int>(std::floor(least / part * kUp))));
    const double without = knapsack_.value(reach);
    knapsack_.add(static_cast<std::size_t>(std::floor(work / part * kDown)), items[i].price);
    // If the longest sequence is not taken, an earlier end has the same value.
    if (knapsack_.value(reach) > without) ends.push_back({knapsack_.value(reach), i + 1, reach});
  }
  const std::size_t count = std::min(ends.size(), kAtOnce);
  std::ranges::partial_sort(ends, ends.begin() + static_cast<std::ptrdiff_t>(count),
                            std::greater<>());
  ends.resize(count);
  return ends;
}

ConfigurationLp::End ConfigurationLp::by_tokens(int scheme, const RowRange& range,
                                                std::span<const Item> items) {
  const Scheme& own = table_.schemes()[at(scheme)];
  const double part = static_cast<double>(range.most) * static_cast<double>(own.max_tokens) / kGrid;
  knapsack_.clear();
  for (const Item& item : items) {
    const auto tokens = static_cast<double>(table_.kinds()[at(item.kind)].length);
    knapsack_.add(static_cast<std::size_t>(std::floor(tokens / part * kDown)), item.price);
  }
  return {knapsack_.value(kGrid), items.size(), kGrid};
}

// Returns the contents of the current knapsack at this end.
ConfigurationLp::Share ConfigurationLp::taken(std::span<const Item> items, const End& end) const {
  Share share{.paid = end.paid};
  for (const std::size_t i : knapsack_.held(end.items, end.room)) {
    share.kinds.push_back(items[i].kind);
  }
  return share;
}

}  // namespace stowage
