#include "heuristics/assign_dispatch.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

namespace stowage {
namespace {

constexpr Ms kForever = std::numeric_limits<Ms>::infinity();
constexpr int kPriceRounds = 48;

std::size_t at(int index) { return static_cast<std::size_t>(index); }

// How full a replica is, in one number per scheme: work, and the rows that its tokens will need.
double fullness(const Scheme& scheme, const LoadSum& load) {
  return load.work + scheme.fixed_ms * static_cast<double>(load.tokens) /
                         static_cast<double>(scheme.max_tokens);
}

class Dispatcher {
 public:
  Dispatcher(const AssignTable& table, int strategy, const RowCounts& counts)
      : table_(table),
        groups_(table.groups(strategy)),
        counts_(counts),
        group_of_(groups_of_replicas(table, strategy)),
        loads_(group_of_.size()),
        sets_(group_of_.size()),
        by_fullness_(groups_.size()) {
    for (std::size_t r = 0; r < group_of_.size(); ++r) {
      by_fullness_[at(group_of_[r])].insert({0, static_cast<int>(r)});
    }
    const RowConstraints& constraints = table.constraints();
    must_start_ = constraints.allow_empty ? 0 : counts.at_least(1);
    tight_ = counts.fixed() || !constraints.allow_empty;
    owed_ = static_cast<int>(group_of_.size()) * must_start_;
  }

  std::optional<Dispatch> run(const Preference* preference) {
    for (int position = 0; position < table_.size(); ++position) {
      const int replica =
          tight_ ? choose_among_all(position, preference) : choose_least_full(position, preference);
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

  // Sequences that this load still lacks: as many as rows at least.
  int owed(int group, const LoadSum& load) const {
    if (load.sequences == 0) return must_start_;
    const Tokens cap = scheme(group).max_tokens;
    const int rows = counts_.at_least(load.tokens / cap + (load.tokens % cap != 0));
    return std::max(0, rows - load.sequences);
  }

  // even_time of the load, as if what it lacks were to come.
  Ms time_with(int group, LoadSum load) const {
    load.sequences += owed(group, load);
    return even_time(scheme(group), load, counts_);
  }

  int choose_least_full(int position, const Preference* preference) {
    int best = -1;
    Ms least = kForever;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      if (!table_.holds(groups_[g].scheme, position)) continue;
      const int replica = by_fullness_[g].begin()->second;
      const int group = static_cast<int>(g);
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

  // As above over all replicas, without those that would leave too few sequences for what others
  // still lack.
  int choose_among_all(int position, const Preference* preference) {
    const int left = table_.size() - position - 1;
    std::pair<bool, Ms> least{true, kForever};  // (not preferred, time)
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

  void put(int position, int replica) {
    const int group = group_of_[at(replica)];
    LoadSum& load = loads_[at(replica)];
    auto& order = by_fullness_[at(group)];
    order.erase({fullness(scheme(group), load), replica});
    owed_ -= owed(group, load);
    load = with(position, replica);
    owed_ += owed(group, load);
    order.insert({fullness(scheme(group), load), replica});
    sets_[at(replica)].push_back(position);
  }

  const AssignTable& table_;
  const std::vector<SchemeGroup>& groups_;
  RowCounts counts_;
  std::vector<int> group_of_;
  std::vector<LoadSum> loads_;
  Dispatch sets_;
  std::vector<std::set<std::pair<double, int>>> by_fullness_;  // (fullness, replica)
  int must_start_ = 0;  // sequences that a replica needs before it has any
  bool tight_ = false;  // a constraint may leave a replica short of sequences
  int owed_ = 0;        // sequences that replicas lack, in all
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
                                          const RowCounts& counts, int most) {
  const std::vector<SchemeGroup>& groups = table.groups(strategy);
  std::vector<double> price(groups.size(), 1);
  std::vector<Preference> best;
  double step = 0.5;
  for (int round = 0; round < kPriceRounds; ++round, step *= 0.93) {
    Preference wish;
    std::vector<LoadSum> loads(groups.size());
    for (std::size_t k = 0; k < table.kinds().size(); ++k) {
      const AssignKind& kind = table.kinds()[k];
      int home = -1;
      double least = kForever;
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
      // A group without sequences must not look free forever, nor one row too many forbidden.
      times.push_back(
          even_time(table.schemes()[at(groups[g].scheme)], share, {.multiple = counts.multiple}));
      if (!(times.back() < kForever))
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
                                 const Preference* preference) {
  return Dispatcher(table, strategy, counts).run(preference);
}

std::optional<AssignDraft> packed(const AssignTable& table, int strategy, const RowCounts& counts,
                                  const Dispatch& sets, const Budget& budget, bool give_up) {
  AssignDraft draft{.strategy = strategy};
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
