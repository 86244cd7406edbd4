#include "solvers/assign/exact/subset_dp.h"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "instances/assign/plan_builder.h"
#include "instances/numeric/numbers.h"
#include "solvers/assign/exact/subset_pairs.h"
#include "solvers/assign/exact/subset_times.h"

namespace stowage {
namespace {

// Largest number of sequences with pipelines, because a table of rows takes 3^n steps.
constexpr std::size_t kMaxWithStages = 16;
// Largest number of unions of families in one pass over all strategies.
constexpr std::int64_t kMaxUnions = 512;
// A time counts as shorter only below this share of another time.
constexpr double kLess = 1 - 1e-12;
// A bound may exceed the optimum by rounding, so it is multiplied by this share.
constexpr double kBelow = 1 - 1e-9;

// The replicas of one scheme in a strategy, at most one more than there are sequences.
struct Group {
  std::size_t scheme = 0;
  int count = 0;
};

std::vector<Group> groups_of(const AssignInstance& instance, const Strategy& strategy) {
  std::vector<Group> groups;
  for (std::size_t g = 0; g < strategy.replicas.size(); ++g) {
    int count = strategy.replicas[g];
    // One replica more than sequences suffices to show that some replica has no sequence.
    count = std::min(count, static_cast<int>(instance.lengths.size()) + 1);
    if (count > 0) groups.push_back({g, count});
  }
  return groups;
}

class FewSolve {
 public:
  FewSolve(const AssignInstance& instance, Ms bound, Ms limit, const Budget& budget,
           std::int64_t steps)
      : few_(instance), steps_(budget, steps), bound_(bound * kBelow), limit_(limit * kLess) {}

  FewResult run() {
    const AssignInstance& instance = few_.instance;
    for (std::size_t g = 0; g < instance.schemes.size(); ++g) {
      const bool used = std::ranges::any_of(instance.strategies,
                                            [g](const Strategy& s) { return s.replicas[g] > 0; });
      shares_.emplace_back();
      if (used) shares_.back().emplace(few_, static_cast<int>(g), limit_, steps_);
      if (steps_.over()) return {};
    }
    for (const RowCounts& counts : permitted_counts()) {
      times_.clear();
      for (const auto& share : shares_) {
        times_.push_back(share ? share->times(counts) : std::vector<Ms>());
      }
      for (std::size_t k = 0; k < instance.strategies.size(); ++k) {
        try_strategy(k, counts);
        if (steps_.over()) return {};
      }
    }
    FewResult result{.complete = true};
    if (best_) result.plan = compose_assign(instance, static_cast<int>(best_->strategy), deal());
    if (steps_.over()) result.complete = false;
    return result;
  }

 private:
  struct Best {
    std::size_t strategy = 0;
    RowCounts counts;
    Ms time = 0;
  };

  // Returns one list of row counts for all replicas, or one for every equal number of rows.
  std::vector<RowCounts> permitted_counts() const {
    const RowConstraints& rule = few_.instance.constraints;
    if (!rule.equal_rows) return {row_counts(rule)};
    std::vector<RowCounts> all;
    for (int rows = rule.rows_multiple_of; at(rows) <= std::max<std::size_t>(few_.size(), 1);
         rows += rule.rows_multiple_of) {
      all.push_back({.multiple = rule.rows_multiple_of, .exact = rows});
    }
    // If there are no sequences, no replica has rows, and no common number is needed.
    if (all.empty()) all.push_back(row_counts(rule));
    return all;
  }

  bool takes_part(Subset share) const {
    return share != 0 || few_.instance.constraints.allow_empty;
  }

  // Returns the shares that a replica of the scheme finishes within `most` ms.
  SubsetPairs within(std::size_t scheme, Ms most) const {
    SubsetPairs family(few_.size());
    const std::vector<Ms>& times = times_[scheme];
    for (Subset share = 0; share < times.size(); ++share) {
      if (times[share] <= most && takes_part(share)) family.insert(share);
    }
    return family;
  }

  // Returns all unions A + B of a share A of one family and a disjoint share B of the other.
  SubsetPairs unions(const SubsetPairs& a, const SubsetPairs& b) {
    steps_.spend(SubsetPairs::steps_of_unions(few_.size()));
    return disjoint_unions(a, b);
  }

  // Returns the unions of the shares of `count` replicas, each with a share of `family`.
  SubsetPairs power(SubsetPairs family, int count) {
    std::optional<SubsetPairs> made;
    for (;;) {
      if ((count & 1) != 0) made = made ? unions(*made, family) : family;
      count >>= 1;
      if (count == 0 || steps_.over()) return made ? *made : family;
      family = unions(family, family);
    }
  }

  // Returns true if the strategy's replicas can hold all sequences, each within `most` ms.
  bool possible(const std::vector<Group>& groups, Ms most) {
    std::optional<SubsetPairs> all;
    for (const Group& group : groups) {
      SubsetPairs held = power(within(group.scheme, most), group.count);
      all = all ? unions(*all, held) : std::move(held);
      if (steps_.over()) return false;
    }
    return all && all->has(few_.all());
  }

  void try_strategy(std::size_t strategy, const RowCounts& counts) {
    const std::vector<Group> groups = groups_of(few_.instance, few_.instance.strategies[strategy]);
    // The step time equals the time of some share, so the search is over these times.
    std::vector<Ms> values;
    for (const Group& group : groups) {
      for (const Ms time : times_[group.scheme]) {
        if (time < limit_ && time >= bound_) values.push_back(time);
      }
    }
    std::ranges::sort(values);
    values.erase(std::unique(values.begin(), values.end()), values.end());
    if (values.empty() || !possible(groups, values.back())) return;
    std::size_t low = 0;
    std::size_t high = values.size() - 1;
    while (low < high && !steps_.over()) {
      const std::size_t middle = (low + high) / 2;
      if (possible(groups, values[middle])) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    best_ = Best{strategy, counts, values[high]};
    limit_ = values[high] * kLess;
  }

  // Assigns to each replica in turn a share such that the remaining replicas can hold the rest.
  std::vector<ReplicaChoice> deal() {
    const RowCounts counts = best_->counts;
    times_.clear();
    for (const auto& share : shares_) {
      times_.push_back(share ? share->times(counts) : std::vector<Ms>());
    }
    std::vector<std::size_t> schemes;
    // unions of the shares of the last r replicas
    std::vector<SubsetPairs> after{SubsetPairs(few_.size())};
    after.back().insert(0);
    for (const Group& group : groups_of(few_.instance, few_.instance.strategies[best_->strategy])) {
      const SubsetPairs family = within(group.scheme, best_->time);
      for (int n = 0; n < group.count; ++n) {
        schemes.push_back(group.scheme);
        after.push_back(unions(after.back(), family));
      }
    }
    std::vector<ReplicaChoice> choices;
    Subset left = few_.all();
    for (std::size_t r = schemes.size(); r-- > 0 && !steps_.over();) {
      for (Subset share = left;; share = (share - 1) & left) {
        const bool holds = takes_part(share) && times_[schemes[r]][share] <= best_->time;
        if (holds && after[r].has(left & ~share)) {
          choices.push_back(shares_[schemes[r]]->rows(share, counts));
          left &= ~share;
          break;
        }
        if (share == 0) break;
      }
    }
    return choices;
  }

  const FewSequences few_;
  StepLimit steps_;
  Ms bound_;                                        // no plan is faster than this time
  Ms limit_;                                        // plans must be faster than this time
  std::vector<std::optional<SubsetTimes>> shares_;  // share times of each scheme
  std::vector<std::vector<Ms>> times_;              // [scheme][share]
  std::optional<Best> best_;
};

}  // namespace

bool may_have_few_sequences(const AssignInstance& instance) {
  if (instance.lengths.size() > kMaxShared) return false;
  std::int64_t unions = 0;
  for (const Strategy& strategy : instance.strategies) {
    for (const Group& group : groups_of(instance, strategy)) {
      unions += std::int64_t{2} * std::bit_width(static_cast<unsigned>(group.count));
    }
  }
  return unions <= kMaxUnions;
}

bool has_few_sequences(const AssignInstance& instance) {
  if (!may_have_few_sequences(instance)) return false;
  if (instance.lengths.size() <= kMaxWithStages) return true;
  return std::ranges::none_of(instance.strategies, [&](const Strategy& strategy) {
    return std::ranges::any_of(groups_of(instance, strategy), [&](const Group& group) {
      return instance.schemes[group.scheme].pp > 1;
    });
  });
}

FewResult solve_few(const AssignInstance& instance, Ms bound, Ms limit, const Budget& budget,
                    std::int64_t steps) {
  return FewSolve(instance, bound, limit, budget, steps).run();
}

}  // namespace stowage
