#include "formulations/assign_bounds.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>

namespace stowage {
namespace {

constexpr Ms kForever = std::numeric_limits<Ms>::infinity();
constexpr int kMostShared = 32;   // sequences per replica in the pigeonhole bound
constexpr int kPriceRounds = 60;  // of the work bound
constexpr int kRowClasses = 64;   // row counts told apart in the work bound
constexpr int kBisections = 50;

std::size_t at(int index) { return static_cast<std::size_t>(index); }

const Scheme& scheme_of(const AssignTable& table, const SchemeGroup& group) {
  return table.schemes()[at(group.scheme)];
}

Tokens divided_up(Tokens a, Tokens b) { return a / b + (a % b != 0); }

// [AB1]
Ms longest(const AssignTable& table, const std::vector<SchemeGroup>& groups) {
  Ms bound = 0;
  for (const AssignKind& kind : table.kinds()) {
    Ms least = kForever;
    for (const SchemeGroup& group : groups) {
      if (!table.holds(group.scheme, kind.first)) continue;
      const Scheme& scheme = scheme_of(table, group);
      least = std::min(least, scheme.pp * (table.work(kind.first, group.scheme) + scheme.fixed_ms));
    }
    bound = std::max(bound, least);
  }
  return bound;
}

// The least T of a replica that holds at least these sequences; positions ascend.
Ms together(const AssignTable& table, const SchemeGroup& group, std::span<const int> positions) {
  const Scheme& scheme = scheme_of(table, group);
  if (!table.holds(group.scheme, positions.front())) return kForever;
  std::vector<Tokens> lengths;
  Ms work = 0;
  for (const int position : positions) {
    lengths.push_back(table.length(position));
    work += table.work(position, group.scheme);
  }
  const Ms longest_row = table.work(positions.front(), group.scheme);
  Ms best = kForever;
  for (Tokens rows = least_rows(lengths, scheme.max_tokens); rows <= std::ssize(positions);
       ++rows) {
    const auto count = static_cast<double>(rows);
    const Ms row = std::max(work / count, longest_row) + scheme.fixed_ms;
    best = std::min(best, work + count * scheme.fixed_ms + (scheme.pp - 1) * row);
    if (scheme.pp == 1) break;
  }
  return best;
}

Ms together(const AssignTable& table, const std::vector<SchemeGroup>& groups,
            std::span<const int> positions) {
  Ms least = kForever;
  for (const SchemeGroup& group : groups) {
    least = std::min(least, together(table, group, positions));
  }
  return least;
}

// [AB2]
Ms pigeonhole(const AssignTable& table, const std::vector<SchemeGroup>& groups, int replicas) {
  Ms bound = 0;
  std::vector<int> positions;
  for (int m = 1; m < kMostShared && m <= (table.size() - 1) / replicas; ++m) {
    positions.resize(at(m + 1));
    std::iota(positions.begin(), positions.end(), m * replicas - m);
    bound = std::max(bound, together(table, groups, positions));
  }
  for (int first = 0, last = 2 * replicas - 1; first < last; ++first, --last) {
    if (last < 2 || last >= table.size()) continue;
    const Ms pair = together(table, groups, std::array{first, last});
    if (pair <= bound) continue;
    const Ms triple = together(table, groups, std::array{last - 2, last - 1, last});
    bound = std::max(bound, std::min(pair, triple));
  }
  return bound;
}

// [AB3]
Ms rows_of_captives(const AssignTable& table, const std::vector<SchemeGroup>& groups) {
  const RowConstraints& rule = table.constraints();
  Ms bound = 0;
  for (const SchemeGroup& group : groups) {
    const Scheme& scheme = scheme_of(table, group);
    std::vector<Tokens> captives;
    Ms work = 0;
    Ms longest_row = 0;
    for (int position = 0; position < table.size(); ++position) {
      if (!table.holds(group.scheme, position)) continue;
      if (std::ranges::any_of(groups, [&](const SchemeGroup& other) {
            return other.scheme != group.scheme && table.holds(other.scheme, position);
          })) {
        break;  // whoever holds this one holds all shorter ones
      }
      if (captives.empty()) longest_row = table.work(position, group.scheme) + scheme.fixed_ms;
      captives.push_back(table.length(position));
      work += table.work(position, group.scheme);
    }
    if (captives.empty()) continue;
    const Tokens multiple = rule.rows_multiple_of;
    Tokens rows = divided_up(least_rows(captives, scheme.max_tokens), multiple) * multiple;
    if (!rule.allow_empty) rows = std::max(rows, multiple * group.count);
    bound = std::max(bound, (work + static_cast<double>(rows) * scheme.fixed_ms +
                             (scheme.pp - 1) * longest_row) /
                                group.count);
  }
  return bound;
}

// The most work that a replica can do in time Z, whatever the number of its rows.
Ms most_work(const Scheme& scheme, Ms time, int sequences) {
  if (scheme.pp == 1) return std::max(0.0, time - scheme.fixed_ms);
  const int classes = std::min(kRowClasses, sequences);
  Ms most = 0;
  for (int rows = 1; rows <= classes; ++rows) {
    most = std::max(
        most, (time - scheme.fixed_ms * (rows + scheme.pp - 1)) * rows / (rows + scheme.pp - 1.0));
  }
  if (sequences > classes) most = std::max(most, time - scheme.fixed_ms * (classes + scheme.pp));
  return most;
}

// [AB4]: the least Z at which these prices allow all work to be done.
class PricedWork {
 public:
  PricedWork(const AssignTable& table, const std::vector<SchemeGroup>& groups)
      : table_(table), groups_(groups) {
    for (std::size_t k = 0; k < table.kinds().size(); ++k) {
      for (const SchemeGroup& group : groups) weight_.push_back(weight(static_cast<int>(k), group));
    }
  }

  Ms run() {
    std::vector<double> price(groups_.size(), 1);
    Ms best = 0;
    double step = 0.5;
    for (int round = 0; round < kPriceRounds; ++round, step *= 0.93) {
      std::vector<double> load(groups_.size(), 0);
      const Ms time = least_time(price, load);
      best = std::max(best, time);
      if (groups_.size() == 1 || !(time > 0)) break;
      for (std::size_t g = 0; g < groups_.size(); ++g) {
        const double share = load[g] / (groups_[g].count * capacity(g, time));
        price[g] *= std::pow(std::clamp(share, 0.1, 10.0), step);
      }
    }
    return best;
  }

 private:
  double weight(int kind, const SchemeGroup& group) const {
    const AssignKind& k = table_.kinds()[at(kind)];
    if (!table_.holds(group.scheme, k.first)) return kForever;
    const Scheme& scheme = scheme_of(table_, group);
    const Ms work = table_.kind_work(kind, group.scheme);
    if (scheme.pp > 1) return work;
    return work +
           scheme.fixed_ms * static_cast<double>(k.length) / static_cast<double>(scheme.max_tokens);
  }

  double capacity(std::size_t g, Ms time) const {
    const Scheme& scheme = scheme_of(table_, groups_[g]);
    return scheme.pp == 1 ? time : most_work(scheme, time, table_.size());
  }

  // `load` becomes what each group gets at these prices.
  Ms least_time(const std::vector<double>& price, std::vector<double>& load) const {
    double sum = 0;
    for (std::size_t k = 0; k < table_.kinds().size(); ++k) {
      std::size_t home = 0;
      double least = kForever;
      for (std::size_t g = 0; g < groups_.size(); ++g) {
        const double cost = price[g] * weight_[k * groups_.size() + g];
        if (cost < least) {
          least = cost;
          home = g;
        }
      }
      sum += least * table_.kinds()[k].count;
      load[home] += weight_[k * groups_.size() + home] * table_.kinds()[k].count;
    }
    const auto offered = [&](Ms time) {
      double all = 0;
      for (std::size_t g = 0; g < groups_.size(); ++g) {
        all += price[g] * groups_[g].count * capacity(g, time);
      }
      return all;
    };
    Ms low = 0;
    Ms high = 1;
    while (offered(high) < sum) high *= 2;
    for (int k = 0; k < kBisections; ++k) {
      const Ms middle = low + (high - low) / 2;
      (offered(middle) < sum ? low : high) = middle;
    }
    return low;
  }

  const AssignTable& table_;
  const std::vector<SchemeGroup>& groups_;
  std::vector<double> weight_;  // [kind * groups + group], infinite where it does not fit
};

}  // namespace

Tokens least_rows(std::span<const Tokens> lengths, Tokens cap) {
  std::vector<Tokens> sum(lengths.size() + 1, 0);
  for (std::size_t k = 0; k < lengths.size(); ++k) sum[k + 1] = sum[k] + lengths[k];
  const auto first_at_most = [&](Tokens length) {
    return static_cast<std::size_t>(
        std::ranges::partition_point(lengths, [&](Tokens l) { return l > length; }) -
        lengths.begin());
  };
  Tokens best = divided_up(sum.back(), cap);
  const std::size_t small = first_at_most(cap / 2);  // first of the lengths up to cap / 2
  best = std::max(best, static_cast<Tokens>(small));
  for (std::size_t k = small; k < lengths.size(); ++k) {
    if (k + 1 < lengths.size() && lengths[k + 1] == lengths[k]) continue;
    const Tokens alpha = lengths[k];
    // Those above cap - alpha share with none of at least alpha tokens; the other large ones need
    // a row each, and what they leave takes the rest.
    const std::size_t alone = first_at_most(cap - alpha);
    const Tokens room = static_cast<Tokens>(small - alone) * cap - (sum[small] - sum[alone]);
    const Tokens rest = sum[k + 1] - sum[small] - room;
    best = std::max(best, static_cast<Tokens>(small) + (rest > 0 ? divided_up(rest, cap) : 0));
  }
  return best;
}

std::vector<NamedBound> strategy_bounds(const AssignTable& table, int strategy) {
  const std::vector<SchemeGroup>& groups = table.groups(strategy);
  std::vector<NamedBound> bounds{{"longest", 0}, {"pigeonhole", 0}, {"rows", 0}, {"work", 0}};
  if (!table.usable(strategy)) {
    for (NamedBound& bound : bounds) bound.value = kForever;
  } else if (table.size() > 0) {
    bounds[0].value = longest(table, groups);
    bounds[1].value = pigeonhole(table, groups, table.replicas(strategy));
    bounds[2].value = rows_of_captives(table, groups);
    bounds[3].value = PricedWork(table, groups).run();
  }
  std::ranges::stable_sort(bounds, {}, &NamedBound::value);
  return bounds;
}

NamedBound strategy_bound(const AssignTable& table, int strategy) {
  return strategy_bounds(table, strategy).back();
}

std::vector<NamedBound> assign_bounds(const AssignTable& table) {
  std::vector<NamedBound> step{{"longest", kForever},
                               {"pigeonhole", kForever},
                               {"rows", kForever},
                               {"work", kForever},
                               {"strategies", kForever}};
  for (int strategy = 0; strategy < table.strategies(); ++strategy) {
    const std::vector<NamedBound> bounds = strategy_bounds(table, strategy);
    for (const NamedBound& bound : bounds) {
      Ms& least = std::ranges::find(step, bound.name, &NamedBound::name)->value;
      least = std::min(least, bound.value);
    }
    step.back().value = std::min(step.back().value, bounds.back().value);
  }
  std::ranges::stable_sort(step, {}, &NamedBound::value);
  return step;
}

}  // namespace stowage
