#include "formulations/assign/bounds.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>

#include "formulations/assign/priced_work.h"
#include "formulations/partition/bin_count.h"
#include "instances/numeric/numbers.h"
#include "instances/ticker.h"

namespace stowage {
namespace {

constexpr double kFreeSteps = 3e8;         // steps of all bounds, guaranteed under any budget
constexpr int kMaxShared = 32;             // sequences per replica in the pigeonhole bound
constexpr std::size_t kPairSteps = 30;     // of one pair on one scheme
constexpr std::size_t kPricedSteps = 100;  // of the work bound, per kind and per bisection

const Scheme& scheme_of(const AssignTable& table, const SchemeGroup& group) {
  return table.schemes()[at(group.scheme)];
}

Tokens divided_up(Tokens a, Tokens b) { return a / b + (a % b != 0); }

// [AB1]; no shorter sequence needs more time on its best scheme.
Ms longest(const AssignTable& table, const std::vector<SchemeGroup>& groups) {
  Ms least = kInfinity;
  for (const SchemeGroup& group : groups) {
    if (!table.holds(group.scheme, 0)) continue;
    const Scheme& scheme = scheme_of(table, group);
    least = std::min(least, scheme.pp * (table.work(0, group.scheme) + scheme.fixed_ms));
  }
  return least;
}

// Returns the least time in ms of a replica that holds at least these sequences. `positions`
// ascend.
Ms together(const AssignTable& table, const SchemeGroup& group, std::span<const int> positions) {
  const Scheme& scheme = scheme_of(table, group);
  if (!table.holds(group.scheme, positions.front())) return kInfinity;
  std::vector<Tokens> lengths;
  Ms work = 0;
  for (const int position : positions) {
    lengths.push_back(table.length(position));
    work += table.work(position, group.scheme);
  }
  const Ms longest_row = table.work(positions.front(), group.scheme);
  Ms best = kInfinity;
  for (Tokens rows = least_rows(lengths, scheme.max_tokens); rows <= std::ssize(positions);
       ++rows) {
    const auto count = static_cast<double>(rows);
    const Ms row = std::max(work / count, longest_row) + scheme.fixed_ms;
    best = std::min(best, work + count * scheme.fixed_ms + (scheme.pp - 1) * row);
  }
  return best;
}

Ms together(const AssignTable& table, const std::vector<SchemeGroup>& groups,
            std::span<const int> positions) {
  Ms least = kInfinity;
  for (const SchemeGroup& group : groups) {
    least = std::min(least, together(table, group, positions));
  }
  return least;
}

// [AB2]
Ms pigeonhole(const AssignTable& table, const std::vector<SchemeGroup>& groups, int replicas,
              GuaranteedWork& time) {
  Ms bound = 0;
  std::vector<int> positions;
  for (int m = 1; m < kMaxShared && m <= (table.size() - 1) / replicas; ++m) {
    if (time.exhausted(groups.size() * at(m) * at(m))) return bound;
    positions.resize(at(m + 1));
    std::iota(positions.begin(), positions.end(), m * replicas - m);
    bound = std::max(bound, together(table, groups, positions));
  }
  for (int first = 0, last = 2 * replicas - 1; first < last; ++first, --last) {
    if (last < 2 || last >= table.size()) continue;
    if (time.exhausted(groups.size() * kPairSteps)) break;
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
        break;  // other schemes that hold this sequence hold all shorter ones
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

// [AB4]
Ms even_work(const AssignTable& table, const std::vector<SchemeGroup>& groups,
             GuaranteedWork& time) {
  if (time.exhausted(groups.size() * (table.kinds().size() + kPricedSteps) * kPricedSteps))
    return 0;
  std::vector<PricedGroup> priced;
  for (const SchemeGroup& group : groups) priced.push_back({&scheme_of(table, group), group.count});
  std::vector<PricedKind> kinds;
  for (std::size_t k = 0; k < table.kinds().size(); ++k) {
    const AssignKind& kind = table.kinds()[k];
    kinds.push_back({.count = static_cast<double>(kind.count)});
    for (const SchemeGroup& group : groups) {
      const Scheme& scheme = scheme_of(table, group);
      double weight = kInfinity;
      if (table.holds(group.scheme, kind.first)) {
        weight = table.kind_work(static_cast<int>(k), group.scheme);
        if (scheme.pp == 1) {
          weight += scheme.fixed_ms * static_cast<double>(kind.length) /
                    static_cast<double>(scheme.max_tokens);
        }
      }
      kinds.back().weight.push_back(weight);
    }
  }
  return priced_work(kinds, priced, table.size(), time.budget());
}

}  // namespace

namespace {

std::vector<NamedBound> strategy_bounds(const AssignTable& table, int strategy,
                                        GuaranteedWork& time) {
  const std::vector<SchemeGroup>& groups = table.groups(strategy);
  std::vector<NamedBound> bounds{{"longest", 0}, {"pigeonhole", 0}, {"rows", 0}, {"work", 0}};
  if (!table.usable(strategy)) {
    for (NamedBound& bound : bounds) bound.value = kInfinity;
  } else if (table.size() > 0) {
    bounds[0].value = longest(table, groups);
    bounds[1].value = pigeonhole(table, groups, table.replicas(strategy), time);
    const std::size_t looks = groups.size() * (at(table.size()) + groups.size());
    if (!time.exhausted(looks)) bounds[2].value = rows_of_captives(table, groups);
    bounds[3].value = even_work(table, groups, time);
  }
  std::ranges::stable_sort(bounds, {}, &NamedBound::value);
  return bounds;
}

// [AB1] of a strategy that has all schemes that any strategy uses.
Ms longest_anywhere(const AssignTable& table) {
  Ms least = kInfinity;
  for (int strategy = 0; strategy < table.strategies(); ++strategy) {
    least = std::min(least, longest(table, table.groups(strategy)));
  }
  return least;
}

}  // namespace

std::vector<NamedBound> strategy_bounds(const AssignTable& table, int strategy,
                                        const Budget& budget) {
  GuaranteedWork time(budget, kFreeSteps / 10);
  return strategy_bounds(table, strategy, time);
}

NamedBound strategy_bound(const AssignTable& table, int strategy, const Budget& budget) {
  return strategy_bounds(table, strategy, budget).back();
}

std::vector<NamedBound> assign_bounds(const AssignTable& table, const Budget& budget) {
  std::vector<NamedBound> step{{"longest", kInfinity},
                               {"pigeonhole", kInfinity},
                               {"rows", kInfinity},
                               {"work", kInfinity},
                               {"strategies", kInfinity}};
  GuaranteedWork time(budget, kFreeSteps);
  for (int strategy = 0; strategy < table.strategies(); ++strategy) {
    if (time.exhausted(table.groups(strategy).size()) && table.size() > 0) {
      return {{"longest", longest_anywhere(table)}};
    }
    const std::vector<NamedBound> bounds = strategy_bounds(table, strategy, time);
    for (const NamedBound& bound : bounds) {
      Ms& least = std::ranges::find(step, bound.name, &NamedBound::name)->value;
      least = std::min(least, bound.value);
    }
    step.back().value = std::min(step.back().value, bounds.back().value);
  }
  std::ranges::stable_sort(step, {}, &NamedBound::value);
  return step;
}

Ms simulated_bound(const AssignInstance& instance) {
  if (instance.lengths.empty()) return 0;
  AssignInstance flat = instance;
  for (Scheme& scheme : flat.schemes) {
    scheme.tp *= scheme.pp;  // as many devices
    scheme.pp = 1;
  }
  return std::max(assign_bounds(AssignTable(flat)).back().value,
                  longest_anywhere(AssignTable(instance)));
}

}  // namespace stowage
