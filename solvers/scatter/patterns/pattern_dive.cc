#include "solvers/scatter/patterns/pattern_dive.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "heuristics/scatter/improve/local_search.h"
#include "instances/numeric/numbers.h"
#include "instances/numeric/tolerances.h"
#include "solvers/lp/column_generation.h"

namespace stowage {
namespace {

constexpr int kMaxRounds = 200;          // rounds of pricing per dive
constexpr double kDevicesGained = 1e-7;  // devices gained per device by a column worth adding
constexpr double kWhole = 1 - 1e-6;      // share from which a pattern counts as a whole group
constexpr double kEnough = 1e-7;         // devices
constexpr std::size_t kRepackStates[] = {30, 500};  // by effort
constexpr int kPolishRounds = 200;

}  // namespace

ScatterPatternDive::ScatterPatternDive(const ScatterTable& table, MilpBackend backend)
    : table_(table), backend_(backend), patterns_(table, PatternPool::Times::of_groups) {}

bool ScatterPatternDive::fits(const PatternPool::Pattern& pattern, const Task& task,
                              std::size_t batch) const {
  if (pattern.time > task.limits[batch]) return false;
  if (table_.configs()[at(pattern.config)].degree > task.devices[batch]) return false;
  if (!suits(task, batch, pattern.config)) return false;
  return std::ranges::all_of(pattern.amounts, [&](const PatternAmount& amount) {
    return amount.count <= task.counts[at(amount.kind)];
  });
}

bool ScatterPatternDive::suits(const Task& task, std::size_t batch, int config) const {
  return task.modes[batch] == kAnyMode || task.modes[batch] == table_.mode(config);
}

void ScatterPatternDive::use(std::size_t batch, std::size_t pattern,
                             ScatterPatternDiveMaster& master, Mixture& mixture) const {
  mixture.uses.push_back({.batch = batch, .pattern = pattern});
  master.add(batch, patterns_[pattern].config, patterns_[pattern].amounts);
}

ScatterPatternDive::Mixture ScatterPatternDive::mix(const Task& task, bool only_feasibility,
                                                    int most_rounds, Budget& budget) {
  Mixture mixture;
  ScatterPatternDiveMaster master(table_, task.counts, task.devices);
  for (std::size_t b = 0; b < task.limits.size(); ++b) {
    for (std::size_t p = 0; p < patterns_.size(); ++p) {
      if (fits(patterns_[p], task, b)) use(b, p, master, mixture);
    }
  }
  LpResult solution;
  const auto price_round = [&](const PricingRound& round) {
    Relaxation& found = mixture.relaxation;
    found = {.solved = true,
             .shortage = solution.objective,
             .values = master.values(solution.duals),
             .prices = master.prices(solution.duals)};
    std::vector<Use>& uses = mixture.uses;
    for (std::size_t u = 0; u < uses.size(); ++u) uses[u].amount = solution.values[u + 1];
    if (only_feasibility && found.shortage <= -kEnough) return Pricing::enough;
    const std::size_t before = uses.size();
    const std::optional<double> dearest =
        add_patterns(task, kRepackStates[round.effort], master, mixture, budget);
    if (!dearest) {
      mixture = {};
      return Pricing::enough;
    }
    if (uses.size() == before) return Pricing::nothing;
    // These prices, scaled down, are a solution of the dual, which proves that devices are missing.
    double covered = 0;
    double there = 0;
    for (std::size_t k = 0; k < task.counts.size(); ++k)
      covered += task.counts[k] * found.values[k];
    for (std::size_t b = 0; b < task.limits.size(); ++b) there += task.devices[b] * found.prices[b];
    if (only_feasibility && covered / *dearest > there * (1 + kEnough)) {
      found.shortage = covered / *dearest - there;
      return Pricing::enough;
    }
    return Pricing::added;
  };
  const ColumnGeneration rounds(backend_, {.most_rounds = most_rounds, .efforts = 2});
  rounds.run(master.model(), solution, budget, price_round);
  return mixture;
}

// Adds the best pattern of each degree in each micro-batch, if it is worth more than its price.
// Returns the largest ratio of worth to price, at least 1, or nullopt if the budget ends.
std::optional<double> ScatterPatternDive::add_patterns(const Task& task, std::size_t states,
                                                       ScatterPatternDiveMaster& master,
                                                       Mixture& mixture, const Budget& budget) {
  const Relaxation& found = mixture.relaxation;
  double dearest = 1;
  for (std::size_t b = 0; b < task.limits.size(); ++b) {
    for (int d = 0; d < static_cast<int>(table_.configs().size()); ++d) {
      const GroupConfig& config = table_.configs()[at(d)];
      const Ms room = task.limits[b] * kPlannerFill - config.overhead;
      if (room < 0 || config.degree > task.devices[b] || !suits(task, b, d)) continue;
      if (budget.exhausted()) return std::nullopt;
      const double paid = found.prices[b] * config.degree;
      BestPattern best =
          price(task, d, room, found.values, paid + kDevicesGained * config.degree, states);
      if (paid > 0) dearest = std::max(dearest, best.most / paid);
      if (best.amounts.empty()) continue;
      patterns_.add(d, std::move(best.amounts));
      use(b, patterns_.size() - 1, master, mixture);
    }
  }
  return dearest;
}

BestPattern ScatterPatternDive::price(const Task& task, int config, Ms room,
                                      const std::vector<double>& values, double floor,
                                      std::size_t states) const {
  const GroupConfig& group = table_.configs()[at(config)];
  std::vector<PatternItem> items;
  for (int k = 0; k < static_cast<int>(table_.kinds().size()); ++k) {
    if (task.counts[at(k)] == 0) continue;
    if (!table_.holds_kind(config, k)) continue;
    items.push_back(
        {.kind = k,
         .count = static_cast<int>(std::min<std::int64_t>(task.counts[at(k)], group.sequences)),
         .tokens = group.packed_size(table_.kinds()[at(k)].length),
         .time = table_.kind_cost(k, config),
         .worth = values[at(k)]});
  }
  return best_pattern(std::move(items), table_.capacity_within(config, room + group.overhead), room,
                      floor, states, group.sequences);
}

ScatterPatternDive::Task ScatterPatternDive::whole(std::span<const Ms> limits) const {
  Task task{.limits = {limits.begin(), limits.end()}};
  for (const DistinctLength& kind : table_.kinds()) task.counts.push_back(kind.count);
  task.devices.assign(limits.size(), table_.devices());
  task.modes = modes_;
  task.modes.resize(limits.size(), kAnyMode);
  return task;
}

ScatterPatternDive::Relaxation ScatterPatternDive::relax(std::span<const Ms> limits, Budget& budget,
                                                         int most_rounds) {
  return mix(whole(limits), true, most_rounds, budget).relaxation;
}

std::optional<WorkingStep> ScatterPatternDive::plan(std::span<const Ms> limits, Budget& budget) {
  Task task = whole(limits);
  std::vector<std::vector<int>> rest;  // positions by kind
  std::size_t left = 0;
  for (const DistinctLength& kind : table_.kinds()) {
    left += static_cast<std::size_t>(kind.count);
    std::vector<int>& positions = rest.emplace_back();
    for (int i = kind.count; i-- > 0;) positions.push_back(kind.first + i);
  }
  WorkingStep step(limits.size());
  const auto apply = [&](const Use& use) {
    const PatternPool::Pattern& pattern = patterns_[use.pattern];
    if (!fits(pattern, task, use.batch)) return false;
    WorkingGroup group = empty_group(table_, pattern.config);
    for (const PatternAmount& amount : pattern.amounts) {
      for (int i = 0; i < amount.count; ++i) {
        add_sequence(table_, group, rest[at(amount.kind)].back());
        rest[at(amount.kind)].pop_back();
      }
      task.counts[at(amount.kind)] -= amount.count;
      left -= static_cast<std::size_t>(amount.count);
    }
    task.modes[use.batch] = table_.mode(pattern.config);
    task.devices[use.batch] -= table_.configs()[at(pattern.config)].degree;
    step[use.batch].groups.push_back(std::move(group));
    return true;
  };
  while (left > 0) {
    Mixture mixture = mix(task, false, kMaxRounds, budget);
    if (!mixture.relaxation.solved) break;
    bool applied = false;
    for (const Use& use : mixture.uses) {
      for (double amount = use.amount; amount >= kWhole; --amount) {
        if (!apply(use)) break;
        applied = true;
      }
    }
    if (applied) continue;
    // Takes the pattern nearest to a whole group, ties to the pattern of most devices.
    std::ranges::stable_sort(mixture.uses, [&](const Use& a, const Use& b) {
      if (a.amount != b.amount) return a.amount > b.amount;
      return patterns_[a.pattern].config > patterns_[b.pattern].config;
    });
    for (const Use& use : mixture.uses) {
      if (use.amount <= 0 || applied) break;
      applied = apply(use);
    }
    if (!applied) break;
  }
  if (!place_rest(rest, limits, step)) return std::nullopt;
  std::erase_if(step, [](const WorkingMicroBatch& batch) { return batch.groups.empty(); });
  for (WorkingMicroBatch& batch : step) polish(table_, batch, left > 0 ? kPolishRounds : 0);
  return step;
}

bool ScatterPatternDive::place_rest(const std::vector<std::vector<int>>& rest,
                                    std::span<const Ms> limits, WorkingStep& step) const {
  for (const std::vector<int>& positions : rest) {
    for (const int position : positions) {
      WorkingGroup* best = nullptr;
      Ms least = kInfinity;
      for (std::size_t b = 0; b < step.size(); ++b) {
        for (WorkingGroup& group : step[b].groups) {
          if (!has_room(table_, group, position)) continue;
          const Ms late = time_with(table_, group, position) - limits[b];
          if (late >= least) continue;
          least = late;
          best = &group;
        }
      }
      if (best == nullptr) return false;
      add_sequence(table_, *best, position);
    }
  }
  return true;
}

}  // namespace stowage
