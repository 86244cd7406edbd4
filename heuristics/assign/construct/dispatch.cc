#include "heuristics/assign/construct/dispatch.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

// Rounds of price updates: the last round changes prices by 3 % of the first change.
constexpr int kPriceRounds = 48;
// Visits of groups or replicas between two reads of the clock.
constexpr std::size_t kLooks = 1'000'000;
// Groups that are tried for each sequence after the budget is exhausted.
constexpr std::size_t kFewDispatchGroups = 8;

// Returns the fullness of a replica in ms: its work, plus the fixed time of the rows that its
// tokens fill.
double fullness(const Scheme& scheme, const LoadSum& load) {
  return load.work + scheme.fixed_ms * static_cast<double>(load.tokens) /
                         static_cast<double>(scheme.max_tokens);
}

class Dispatcher {
 public:
  Dispatcher(const AssignTable& table, int strategy, const RowCounts& counts, const Budget& budget)
      : table_(table),
        groups_(table.groups(strategy)),
        counts_(counts),
        budget_(budget),
        group_of_(groups_of_replicas(table, strategy)),
        loads_(group_of_.size()),
        sets_(group_of_.size()),
        by_fullness_(groups_.size()),
        owing_(groups_.size()) {
    const RowConstraints& constraints = table.constraints();
    must_start_ = constraints.allow_empty ? 0 : counts.at_least(1);
    tight_ = counts.fixed() || !constraints.allow_empty;
    owed_ = static_cast<int>(group_of_.size()) * must_start_;
    look_at_all();
    for (const SchemeGroup& group : groups_) {
      untouched_.push_back(end_.empty() ? 0 : end_.back());
      end_.push_back(untouched_.back() + group.count);
      if (!tight_) by_fullness_[end_.size() - 1].insert({0, untouched_.back()});
    }
  }

  std::optional<Dispatch> run(const Preference* preference) {
    const std::size_t looks = tight_ ? group_of_.size() : groups_.size();
    std::size_t since = 0;  // visits since the last read of the clock
    for (int position = 0; position < table_.size(); ++position) {
      since += looks;
      if (!hurried_ && since > kLooks) {
        since = 0;
        if (budget_.exhausted()) hurry();
      }
      look_on();
      int replica = !tight_    ? choose_least_full(position, preference)
                    : hurried_ ? choose_among_few(position)
                               : choose_among_all(position, preference);
      if (replica < 0 && tight_ && hurried_) {
        look_at_all();
        replica = choose_among_few(position);
      }
      if (replica < 0) return std::nullopt;
      put(position, replica);
    }
    if (owed_ > 0) return std::nullopt;
    return std::move(sets_);
  }

 private:
  const Scheme& scheme(int group) const { return table_.schemes()[at(groups_[at(group)].scheme)]; }
  LoadSum with(int position, int replica) const {
    LoadSum load = loads_[at(replica)];
    load.add(table_, groups_[at(group_of_[at(replica)])].scheme, position);
    return load;
  }

  // Returns the number of further sequences that this load needs so that each of its rows gets a
  // sequence.
  int owed(int group, const LoadSum& load) const {
    if (load.sequences == 0) return must_start_;
    const Tokens cap = scheme(group).max_tokens;
    const int rows = counts_.at_least(load.tokens / cap + (load.tokens % cap != 0));
    return std::max(0, rows - load.sequences);
  }

  // Returns even_time() of the load with the further sequences that it needs.
  Ms time_with(int group, LoadSum load) const {
    load.sequences += owed(group, load);
    return even_time(scheme(group), load, counts_);
  }

  // Limits later choices to a few groups per sequence. If a constraint may leave a replica short of
  // sequences, also fills the ordered sets of replicas that need sequences.
  void hurry() {
    hurried_ = true;
    holder_ = group_for_the_longest();
    if (!tight_) return;
    for (int replica = 0; replica < static_cast<int>(loads_.size()); ++replica) {
      const int group = group_of_[at(replica)];
      untouched_[at(group)] = end_[at(group)];
      enter(replica);
    }
  }

  // Chooses the groups to consider for the next sequence. After hurry() these are a few groups in
  // rotation, and the group on which the longest sequence ends first, because it admits all
  // sequences.
  void look_on() {
    if (!hurried_ || groups_.size() <= kFewDispatchGroups) return;
    looked_at_.assign(1, holder_);
    for (std::size_t k = 1; k < kFewDispatchGroups; ++k) {
      looked_at_.push_back(static_cast<int>(next_++ % groups_.size()));
    }
  }

  void look_at_all() {
    looked_at_.resize(groups_.size());
    std::iota(looked_at_.begin(), looked_at_.end(), 0);
  }

  int group_for_the_longest() const {
    int best = 0;
    Ms least = kInfinity;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      if (!table_.holds(groups_[g].scheme, 0)) continue;
      const Scheme& s = scheme(static_cast<int>(g));
      const Ms time = s.pp * (table_.work(0, groups_[g].scheme) + s.fixed_ms);
      if (time >= least) continue;
      least = time;
      best = static_cast<int>(g);
    }
    return best;
  }

  int choose_least_full(int position, const Preference* preference) {
    int best = -1;
    Ms least = kInfinity;
    for (const int group : looked_at_) {
      const std::size_t g = at(group);
      if (!table_.holds(groups_[g].scheme, position)) continue;
      const int replica = by_fullness_[g].begin()->second;
      const Ms time = time_with(group, with(position, replica));
      if (preference != nullptr && preference->group[at(table_.kind(position))] == group &&
          time <= preference->time) {
        return replica;
      }
      if (time < least) {
        least = time;
        best = replica;
      }
    }
    return best;
  }

  // Returns the best replica among all, or -1. Skips replicas that would leave too few sequences
  // for the replicas that still need some.
  int choose_among_all(int position, const Preference* preference) {
    const int left = table_.size() - position - 1;
    std::pair<bool, Ms> least{true, kInfinity};  // (not preferred, time)
    int best = -1;
    for (int replica = 0; replica < static_cast<int>(loads_.size()); ++replica) {
      const int group = group_of_[at(replica)];
      if (!table_.holds(groups_[at(group)].scheme, position)) continue;
      const LoadSum load = with(position, replica);
      if (owed_ - owed(group, loads_[at(replica)]) + owed(group, load) > left) continue;
      const Ms time = time_with(group, load);
      const bool preferred = preference != nullptr && time <= preference->time &&
                             preference->group[at(table_.kind(position))] == group;
      if (std::pair(!preferred, time) < least) {
        least = {!preferred, time};
        best = replica;
      }
    }
    return best;
  }

  // Returns the best replica among a few, or -1: the least full replica of each considered group,
  // and one replica that needs sequences.
  int choose_among_few(int position) {
    const int left = table_.size() - position - 1;
    Ms least = kInfinity;
    int best = -1;
    const auto consider = [&](int group, int replica) {
      const LoadSum load = with(position, replica);
      if (owed_ - owed(group, loads_[at(replica)]) + owed(group, load) > left) return;
      const Ms time = time_with(group, load);
      if (time >= least) return;
      least = time;
      best = replica;
    };
    for (const int group : looked_at_) {
      if (!table_.holds(groups_[at(group)].scheme, position)) continue;
      consider(group, by_fullness_[at(group)].begin()->second);
      if (!owing_[at(group)].empty()) consider(group, *owing_[at(group)].begin());
    }
    return best;
  }

  void put(int position, int replica) {
    const int group = group_of_[at(replica)];
    LoadSum& load = loads_[at(replica)];
    leave(replica);
    owed_ -= owed(group, load);
    load = with(position, replica);
    owed_ += owed(group, load);
    enter(replica);
    sets_[at(replica)].push_back(position);
  }

  // Adds a replica to the ordered sets from which replicas are chosen. Empty replicas of a group
  // are equal, so only the first of them is added.
  void enter(int replica) {
    if (tight_ && !hurried_) return;
    const int group = group_of_[at(replica)];
    const LoadSum& load = loads_[at(replica)];
    by_fullness_[at(group)].insert({fullness(scheme(group), load), replica});
    if (hurried_ && owed(group, load) > 0) owing_[at(group)].insert(replica);
  }
  void leave(int replica) {
    if (tight_ && !hurried_) return;
    const std::size_t group = at(group_of_[at(replica)]);
    by_fullness_[group].erase(
        {fullness(scheme(group_of_[at(replica)]), loads_[at(replica)]), replica});
    owing_[group].erase(replica);
    if (replica != untouched_[group]) return;
    if (++untouched_[group] < end_[group]) by_fullness_[group].insert({0, untouched_[group]});
  }

  const AssignTable& table_;
  const std::vector<SchemeGroup>& groups_;
  RowCounts counts_;
  const Budget& budget_;
  std::vector<int> group_of_;
  std::vector<LoadSum> loads_;
  Dispatch sets_;
  std::vector<std::set<std::pair<double, int>>> by_fullness_;  // (fullness, replica)
  std::vector<std::set<int>> owing_;                           // replicas that need sequences
  std::vector<int> untouched_;  // first replica of each group without a sequence
  std::vector<int> end_;        // end of each group's replicas
  std::vector<int> looked_at_;  // groups to consider
  bool hurried_ = false;
  int holder_ = 0;        // group for the longest sequence, used by look_on()
  std::size_t next_ = 0;  // next group of the rotation
  int must_start_ = 0;    // sequences that an empty replica needs
  bool tight_ = false;    // a constraint may leave a replica short of sequences
  int owed_ = 0;          // sequences that all replicas together need
};

}  // namespace

std::vector<int> groups_of_replicas(const AssignTable& table, int strategy) {
  std::vector<int> group_of;
  for (std::size_t g = 0; g < table.groups(strategy).size(); ++g) {
    group_of.insert(group_of.end(), at(table.groups(strategy)[g].count), static_cast<int>(g));
  }
  return group_of;
}

std::vector<Preference> price_preferences(const AssignTable& table, int strategy,
                                          const RowCounts& counts, int most, const Budget& budget) {
  const std::vector<SchemeGroup>& groups = table.groups(strategy);
  const bool large = groups.size() * table.kinds().size() > kLooks / kPriceRounds;
  std::vector<double> price(groups.size(), 1);
  std::vector<Preference> best;
  double step = 0.5;
  for (int round = 0; round < kPriceRounds; ++round, step *= 0.93) {
    if (large && budget.exhausted()) break;
    Preference wish;
    std::vector<LoadSum> loads(groups.size());
    for (std::size_t k = 0; k < table.kinds().size(); ++k) {
      const AssignKind& kind = table.kinds()[k];
      int home = -1;
      double least = kInfinity;
      for (std::size_t g = 0; g < groups.size(); ++g) {
        if (!table.holds(groups[g].scheme, kind.first)) continue;
        const Scheme& scheme = table.schemes()[at(groups[g].scheme)];
        LoadSum alone;
        alone.add(table, groups[g].scheme, kind.first);
        const double cost = price[g] * fullness(scheme, alone);
        if (cost < least) {
          least = cost;
          home = static_cast<int>(g);
        }
      }
      wish.group.push_back(home);
      LoadSum& load = loads[at(home)];
      const Ms work = table.kind_work(static_cast<int>(k), groups[at(home)].scheme);
      load.tokens += kind.length * kind.count;
      load.work += work * kind.count;
      load.longest = std::max(load.longest, work);
      load.sequences += kind.count;
    }
    std::vector<Ms> times;
    Ms sum = 0;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      LoadSum share = loads[g];
      share.tokens /= groups[g].count;
      share.work = std::max(share.work / groups[g].count, share.longest);
      // A group without sequences must not have the time 0 forever, and one row too many must not
      // make it infinite.
      times.push_back(
          even_time(table.schemes()[at(groups[g].scheme)], share, {.multiple = counts.multiple}));
      if (!(times.back() < kInfinity))
        times.back() = fullness(table.schemes()[at(groups[g].scheme)], share);
      sum += times.back();
      wish.time = std::max(wish.time, times.back());
    }
    const Ms mean = sum / static_cast<double>(groups.size());
    const bool known = std::ranges::any_of(
        best, [&](const Preference& other) { return other.group == wish.group; });
    if (!known) {
      const auto place = std::ranges::upper_bound(best, wish.time, {}, &Preference::time);
      best.insert(place, std::move(wish));
      if (best.size() > at(most)) best.pop_back();
    }
    if (groups.size() == 1 || !(mean > 0)) break;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      price[g] *= std::pow(std::max(times[g] / mean, 0.1), step);
    }
  }
  return best;
}

std::optional<Dispatch> dispatch(const AssignTable& table, int strategy, const RowCounts& counts,
                                 const Preference* preference, const Budget& budget) {
  return Dispatcher(table, strategy, counts, budget).run(preference);
}

std::vector<int> promising_first(const AssignTable& table, std::vector<int> strategies,
                                 Tokens longest, std::span<const LongSequences> sets) {
  // Returns the throughput of one replica of the scheme, in sets per ms.
  const auto rate = [&](const Scheme& scheme, const LongSequences& set) {
    if (scheme.max_tokens <= set.above) return 0.0;
    const Ms work = scheme.quadratic_ms * set.squares + scheme.linear_ms * set.tokens +
                    scheme.fixed_ms * set.tokens / static_cast<double>(scheme.max_tokens);
    return work > 0 ? 1 / work : std::numeric_limits<double>::max();
  };
  std::vector<double> rates;
  for (const Scheme& scheme : table.schemes()) {
    for (const LongSequences& set : sets) rates.push_back(rate(scheme, set));
  }
  std::vector<std::pair<Ms, int>> order;
  std::vector<double> together;
  for (const int strategy : strategies) {
    together.assign(sets.size(), 0);
    Ms alone = kInfinity;
    const auto s = static_cast<double>(longest);
    for (const SchemeGroup& group : table.groups(strategy)) {
      for (std::size_t k = 0; k < sets.size(); ++k) {
        together[k] += group.count * rates[at(group.scheme) * sets.size() + k];
      }
      const Scheme& scheme = table.schemes()[at(group.scheme)];
      const Ms work = scheme.quadratic_ms * s * s + scheme.linear_ms * s + scheme.fixed_ms;
      if (scheme.max_tokens >= longest) alone = std::min(alone, scheme.pp * work);
    }
    if (alone == kInfinity) alone = 0;  // the longest sequence will be cut
    for (const double sets_per_ms : together) alone = std::max(alone, 1 / sets_per_ms);
    order.emplace_back(alone, strategy);
  }
  std::ranges::sort(order);
  for (std::size_t k = 0; k < order.size(); ++k) strategies[k] = order[k].second;
  return strategies;
}

std::optional<AssignWorkingPlan> packed(const AssignTable& table, int strategy,
                                        const RowCounts& counts, const Dispatch& sets,
                                        const Budget& budget, bool give_up) {
  AssignWorkingPlan draft{.strategy = strategy};
  const std::vector<int> group_of = groups_of_replicas(table, strategy);
  for (std::size_t r = 0; r < sets.size(); ++r) {
    if (give_up && budget.exhausted()) return std::nullopt;
    auto replica = best_rows(table, table.groups(strategy)[at(group_of[r])].scheme, sets[r], counts,
                             budget, give_up);
    if (!replica) return std::nullopt;
    draft.replicas.push_back(std::move(*replica));
  }
  return draft;
}

}  // namespace stowage
