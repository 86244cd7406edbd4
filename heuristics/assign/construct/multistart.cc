#include "heuristics/assign/construct/multistart.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "heuristics/assign/construct/dispatch.h"
#include "heuristics/assign/construct/first_fit.h"
#include "heuristics/assign/construct/row_packing.h"
#include "heuristics/assign/improve/local_search.h"
#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

// Largest product of sequences and replicas for which the first-fit start runs; it then takes some
// milliseconds.
constexpr int kMaxFitted = 4000;

struct Start {
  AssignWorkingPlan draft;
  RowCounts counts;
};

// Returns true if first_fit() is worth trying: the strategy has pipelines, which gain if sequences
// of similar lengths are together. Larger instances are balanced without it.
bool may_fit_first(const AssignTable& table, int strategy) {
  if (!table.constraints().allow_empty || table.size() * table.replicas(strategy) > kMaxFitted) {
    return false;
  }
  return std::ranges::any_of(table.groups(strategy), [&](const SchemeGroup& group) {
    return table.schemes()[at(group.scheme)].pp > 1;
  });
}

// Adds starts for one strategy. If the budget ends early, `starts` holds the starts made so far,
// and at least one start if a start is `needed`.
void add_starts(const AssignTable& table, const AssignPlanParams& params, int strategy,
                const RowCounts& counts, int preferences, bool needed, const Budget& budget,
                std::vector<Start>& starts) {
  const auto add = [&](const Preference* wish) {
    const bool give_up = !needed || !starts.empty();
    if (give_up && budget.exhausted()) return;
    if (const auto sets = dispatch(table, strategy, counts, wish, budget)) {
      if (auto draft = packed(table, strategy, counts, *sets, budget, give_up)) {
        starts.push_back({std::move(*draft), counts});
      }
    }
  };
  add(nullptr);
  if (!starts.empty() && budget.exhausted()) return;
  if (preferences <= params.fast.starts && !starts.empty() && !counts.fixed() &&
      may_fit_first(table, strategy)) {
    const auto sets = first_fit(table, strategy, objective(starts.front().draft), budget);
    if (auto draft = sets ? packed(table, strategy, counts, *sets, budget, true) : std::nullopt) {
      starts.push_back({std::move(*draft), counts});
    }
  }
  if (table.groups(strategy).size() == 1) return;
  for (const Preference& wish : price_preferences(table, strategy, counts, preferences, budget)) {
    add(&wish);
  }
}

// Returns starts for equal row counts, from the least count upwards, until further rows only make
// the plan slower.
std::vector<Start> equal_row_starts(const AssignTable& table, const AssignPlanParams& params,
                                    int strategy, int preferences, const Budget& budget) {
  Tokens capacity = 0;  // tokens of one row on every replica
  for (const SchemeGroup& group : table.groups(strategy)) {
    capacity += group.count * table.schemes()[static_cast<std::size_t>(group.scheme)].max_tokens;
  }
  const int multiple = table.constraints().rows_multiple_of;
  const Tokens least = std::max<Tokens>(1, table.total_tokens() / capacity);
  std::vector<std::pair<Ms, int>> counts;
  int worse = 0;
  for (Tokens rows = (least + multiple - 1) / multiple * multiple;
       rows <= table.size() && worse < params.multistart.worse_counts &&
       (counts.empty() || !budget.exhausted());
       rows += multiple) {
    const RowCounts exact{.multiple = multiple, .exact = static_cast<int>(rows)};
    std::vector<Start> made;
    add_starts(table, params, strategy, exact, 1, true, budget, made);
    if (made.empty()) {
      worse += !counts.empty();
      continue;
    }
    Ms best = objective(made.front().draft);
    for (const Start& start : made) best = std::min(best, objective(start.draft));
    worse = counts.empty() || best < std::ranges::min(counts).first ? 0 : worse + 1;
    counts.emplace_back(best, exact.exact);
  }
  std::ranges::sort(counts);
  counts.resize(std::min(counts.size(), at(params.multistart.best_counts)));
  std::vector<Start> starts;
  for (const auto& [time, rows] : counts) {
    add_starts(table, params, strategy, {.multiple = multiple, .exact = rows}, preferences,
               starts.empty(), budget, starts);
  }
  return starts;
}

// Returns the sums over all sequences, and over those that do not fit a scheme, for a few caps of
// schemes.
std::vector<LongSequences> sets_by_cap(const AssignTable& table) {
  // Number of caps whose sums are kept; further caps rarely change the order of the strategies.
  constexpr std::size_t kMaxCaps = 8;
  std::vector<Tokens> caps;
  for (const Scheme& scheme : table.schemes()) caps.push_back(scheme.max_tokens);
  std::ranges::sort(caps);
  caps.erase(std::unique(caps.begin(), caps.end()), caps.end());
  std::vector<Tokens> chosen{0};
  for (std::size_t k = 0; k < std::min(caps.size(), kMaxCaps); ++k) {
    chosen.push_back(caps[k * caps.size() / std::min(caps.size(), kMaxCaps)]);
  }
  std::vector<LongSequences> sets;
  LongSequences sum;  // sums over the length classes so far, from the longest class on
  std::size_t next = 0;
  for (auto cap = chosen.rbegin(); cap != chosen.rend(); ++cap) {
    for (; next < table.kinds().size() && table.kinds()[next].length > *cap; ++next) {
      const auto s = static_cast<double>(table.kinds()[next].length);
      sum.tokens += table.kinds()[next].count * s;
      sum.squares += table.kinds()[next].count * s * s;
    }
    sum.above = *cap;
    if (sum.tokens > 0) sets.push_back(sum);
  }
  return sets;
}

// Returns the strategies, most promising first, so that a budget that ends early leaves the plan of
// a good strategy.
std::vector<int> order_of_strategies(const AssignTable& table) {
  std::vector<int> all(static_cast<std::size_t>(table.strategies()));
  std::iota(all.begin(), all.end(), 0);
  if (all.size() < 2 || table.size() == 0) return all;
  return promising_first(table, std::move(all), table.length(0), sets_by_cap(table));
}

void fastest_first(std::vector<AssignWorkingPlan>& drafts) {
  std::ranges::sort(drafts, {}, [](const AssignWorkingPlan& draft) {
    return std::pair(objective(draft), draft.strategy);
  });
}

AssignWorkingPlan nothing_to_do(const AssignTable& table, int strategy) {
  AssignWorkingPlan draft{.strategy = strategy};
  for (const SchemeGroup& group : table.groups(strategy)) {
    draft.replicas.resize(draft.replicas.size() + static_cast<std::size_t>(group.count),
                          {.scheme = group.scheme});
  }
  return draft;
}

std::optional<AssignWorkingPlan> without_sequences(const AssignTable& table, int strategy) {
  if (!table.usable(strategy) || !table.constraints().allow_empty) return std::nullopt;
  return nothing_to_do(table, strategy);
}

// Returns the starts of one strategy, best first. Returns an empty list if the strategy is not
// usable or if no start meets the row constraints. Requires at least one sequence.
std::vector<Start> starts_of(const AssignTable& table, const AssignPlanParams& params, int strategy,
                             int preferences, bool needed, const Budget& budget) {
  std::vector<Start> starts;
  if (!table.usable(strategy)) return starts;
  const RowConstraints& constraints = table.constraints();
  if (constraints.equal_rows) {
    starts = equal_row_starts(table, params, strategy, preferences, budget);
  } else {
    add_starts(table, params, strategy, row_counts(constraints), preferences, needed, budget,
               starts);
  }
  std::ranges::stable_sort(starts, {}, [](const Start& start) { return objective(start.draft); });
  return starts;
}

// Returns the best plan that the local search finds from these starts. Requires at least one start.
AssignWorkingPlan searched(const AssignTable& table, const AssignPlanParams& params,
                           std::vector<Start> starts, const AssignEffort& effort,
                           std::uint64_t seed, const Budget& budget) {
  if (budget.exhausted()) return std::move(starts.front().draft);
  std::optional<AssignSearch> best;
  for (Start& start : starts) {
    if (best && budget.exhausted()) break;
    AssignSearch search(table, start.counts, std::move(start.draft), params.search);
    search.improve(effort.steps, budget);
    if (!best || objective(search.draft()) < objective(best->draft())) {
      best.emplace(std::move(search));
    }
  }
  best->ruin(effort.ruins, seed, budget);
  best->close_ranks(budget);
  return best->draft();
}

}  // namespace

std::optional<AssignWorkingPlan> plan_strategy(const AssignTable& table, int strategy,
                                               const AssignPlanParams& params,
                                               const AssignEffort& effort, std::uint64_t seed,
                                               const Budget& budget, bool needed) {
  if (table.size() == 0) return without_sequences(table, strategy);
  std::vector<Start> starts = starts_of(table, params, strategy, effort.starts, needed, budget);
  if (starts.empty()) return std::nullopt;
  return searched(table, params, std::move(starts), effort, seed, budget);
}

std::vector<AssignWorkingPlan> plan_strategies(const AssignTable& table,
                                               const AssignPlanParams& params, std::uint64_t seed,
                                               const Budget& budget, bool needed) {
  const AssignEffort quick = quick_effort(params);
  std::vector<AssignWorkingPlan> drafts;
  const std::vector<int> order = order_of_strategies(table);
  const Budget none({.time_limit_s = 0});
  for (std::size_t k = 0; needed && drafts.empty() && k < order.size(); ++k) {
    if (auto draft = plan_strategy(table, order[k], params, quick, seed, none)) {
      drafts.push_back(std::move(*draft));
    }
  }
  const auto keep = [&drafts](AssignWorkingPlan draft) {
    const auto known = std::ranges::find(drafts, draft.strategy, &AssignWorkingPlan::strategy);
    if (known == drafts.end()) {
      drafts.push_back(std::move(draft));
    } else if (objective(draft) <= objective(*known)) {
      *known = std::move(draft);
    }
  };
  std::vector<std::vector<Start>> starts;
  for (const int strategy : order) {
    if (budget.exhausted()) break;
    if (table.size() == 0) {
      if (auto draft = without_sequences(table, strategy)) keep(std::move(*draft));
      continue;
    }
    starts.push_back(starts_of(table, params, strategy, quick.starts, false, budget));
    if (starts.back().empty()) {
      starts.pop_back();
    } else {
      keep(starts.back().front().draft);
    }
  }
  std::ranges::stable_sort(
      starts, {}, [](const std::vector<Start>& each) { return objective(each.front().draft); });
  Ms least = kInfinity;
  for (std::vector<Start>& each : starts) {
    const Ms start = objective(each.front().draft);
    if (budget.exhausted() || start > params.multistart.reach * least) break;
    AssignWorkingPlan draft = searched(table, params, std::move(each), quick, seed, budget);
    least = std::min(least, objective(draft));
    keep(std::move(draft));
  }
  fastest_first(drafts);
  return drafts;
}

void plan_best_again(const AssignTable& table, const AssignPlanParams& params,
                     const AssignEffort& effort, std::uint64_t seed, const Budget& budget,
                     std::vector<AssignWorkingPlan>& drafts) {
  if (drafts.empty()) return;
  const Ms reach = params.multistart.reach * objective(drafts.front());
  AssignEffort its = effort;
  for (AssignWorkingPlan& draft : drafts) {
    if (objective(draft) > reach || budget.exhausted()) break;
    auto better = plan_strategy(table, draft.strategy, params, its, seed, budget, false);
    its.ruins /= 2;  // a strategy that is slower at first seldom becomes the fastest
    if (better && objective(*better) < objective(draft)) draft = std::move(*better);
  }
  fastest_first(drafts);
}

int ruin_best(const AssignTable& table, const AssignPlanParams& params, int rounds,
              std::uint64_t seed, const Budget& budget, std::vector<AssignWorkingPlan>& drafts) {
  if (drafts.empty()) return 0;
  int ruins = 0;
  const Ms reach = params.multistart.reach * objective(drafts.front());
  for (AssignWorkingPlan& draft : drafts) {
    if (objective(draft) > reach || budget.exhausted()) break;
    RowCounts counts = row_counts(table.constraints());
    if (table.constraints().equal_rows) {
      for (const WorkingReplica& replica : draft.replicas) {
        counts.exact = std::max(counts.exact, static_cast<int>(replica.rows.size()));
      }
    }
    AssignSearch search(table, counts, std::move(draft), params.search);
    ruins += search.ruin(rounds, seed, budget);
    draft = search.draft();
  }
  fastest_first(drafts);
  return ruins;
}

}  // namespace stowage
