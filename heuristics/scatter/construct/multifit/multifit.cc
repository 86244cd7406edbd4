#include "heuristics/scatter/construct/multifit/multifit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "heuristics/scatter/construct/multifit/multifit_packing.h"
#include "instances/numeric/numbers.h"
#include "instances/numeric/random.h"
#include "instances/numeric/tolerances.h"

namespace stowage {
namespace {

// The bisection starts this share below the requested makespans.
constexpr double kProfileReach = 0.2;
// Common factors tried above the requested makespans.
constexpr std::array<double, 4> kReaches = {1.05, 1.2, 1.5, 2.5};
// Shares by which a makespan shrinks in a proposal. Another makespan may grow by a part of the
// decrease.
constexpr std::array<double, 6> kSteps = {0.2, 0.1, 0.05, 0.02, 0.01, 0.005};
constexpr std::size_t kOtherWay = 4;  // one in this many proposals changes a recomputation mode
// One in this many proposals shortens all of the longest makespans.
constexpr std::size_t kLevelOff = 4;
constexpr std::size_t kMaxUniting = 8;  // micro-batches; with more, uniting groups takes too long
// Micro-batches of a step whose makespans may all be drawn anew.
constexpr std::size_t kMaxDrawn = 4;
constexpr std::size_t kDrawn = 3;  // one in this many proposals draws all makespans anew
// Shares by which drawn makespans sum up to less.
constexpr std::array<double, 3> kPromises = {2e-3, 6e-3, 1.5e-2};
constexpr std::size_t kDraws = 1000;  // random weights per drawn makespan
// Sequences. Larger steps rarely need more than first fit.
constexpr int kFew = 256;
bool few_sequences(const ScatterTable& table) { return table.size() <= kFew; }

// One packing rule: see MultifitPacking::fit(). `longest_first` tries the longest micro-batches
// first.
struct Rule {
  double waste = 1;
  bool longest_first = false;
};
constexpr std::array<Rule, 6> kRules = {
    {{1, false}, {1.3, true}, {1.3, false}, {1.05, true}, {1.1, false}, {2, true}}};
constexpr std::array<double, 4> kPaidBack = {0, 0.5, 0.8, 0.95};

}  // namespace

std::optional<WorkingMicroBatch> multifit(const ScatterTable& table, std::span<const int> positions,
                                          Ms lower, Ms upper, int rounds) {
  MultifitPacking fitter(table, positions);
  // Finds a feasible target by doubling the distance to the lower bound, then bisects.
  bool found = false;
  fitter.let_unite(few_sequences(table));
  for (int halvings = 12; !found && halvings >= 0; --halvings) {
    const BatchTarget target{lower + std::ldexp(upper - lower, -halvings)};
    found = fitter.fit({&target, 1});
  }
  if (!found) return std::nullopt;
  fitter.keep();
  for (int round = 0; round < rounds && fitter.kept().front().makespan > lower; ++round) {
    const BatchTarget target{(lower + fitter.kept().front().makespan) / 2};
    if (fitter.fit({&target, 1})) {
      fitter.keep();
    } else {
      lower = target.makespan;
    }
  }
  return std::move(fitter.draft().front());
}

double packing_slowdown(const ScatterTable& table) {
  if (!table.has_many_degrees()) return 1;
  return std::max(1.0, static_cast<double>(table.configs().size()) / ScatterTable::kMostPowers);
}

static Ms longest(const std::vector<BatchTarget>& targets) {
  return std::ranges::max(targets, {}, &BatchTarget::makespan).makespan;
}

// Cuts the longest makespans to 1 - `less` of the longest one. The other makespans grow by
// `paid_back` of the decrease.
static void level_off(std::vector<BatchTarget>& targets, double less, double paid_back) {
  const Ms most = (1 - less) * longest(targets);
  Ms taken = 0;
  Ms room = 0;
  for (auto& [makespan, mode] : targets) {
    taken += std::max(0.0, makespan - most);
    room += std::max(0.0, most - makespan);
    makespan = std::min(makespan, most);
  }
  if (!(room > 0)) return;
  const double share = std::min(1.0, paid_back * taken / room);
  for (auto& [makespan, mode] : targets) makespan += share * (most - makespan);
}

// Draws makespans that are far from the present ones and sum up to a little less. Returns false if
// the longest sequence fits none of them.
template <class Below>
static bool draw_anew(const ScatterTable& table, std::vector<BatchTarget>& targets, Below below) {
  const Ms least = table.least_overhead();
  Ms rest = 0;
  for (const BatchTarget& target : targets) rest += target.makespan;
  rest *= 1 - kPromises[below(kPromises.size())];
  rest -= least * static_cast<double>(targets.size());
  double all = 0;
  for (BatchTarget& target : targets) {
    target.makespan = static_cast<double>(1 + below(kDraws));
    all += target.makespan;
  }
  Ms most = 0;
  for (BatchTarget& target : targets) {
    target.makespan = least + rest * target.makespan / all;
    most = std::max(most, target.makespan);
  }
  return rest > 0 && most >= table.alone(0);
}

std::vector<BatchTarget> targets_of(const ScatterTable& table, const WorkingStep& step) {
  std::vector<BatchTarget> targets;
  for (const WorkingMicroBatch& batch : step) {
    targets.push_back({batch.makespan});
    if (!batch.groups.empty()) targets.back().mode = table.mode(batch.groups.front().config);
  }
  std::ranges::sort(targets, std::greater<>(), &BatchTarget::makespan);
  return targets;
}

// Returns true if planning changes no packing: the table has no forms to choose and no rules on
// whole micro-batches.
static bool is_planned_as_packed(const ScatterTable& table) {
  return !has_forms(table) && !table.no_idle_ranks() && !table.equal_sequences() &&
         table.multiple() == 1;
}

std::optional<WorkingStep> fit_profile(const ScatterTable& table,
                                       std::span<const BatchTarget> profile,
                                       const ProfileEffort& effort, AsPlanned planned,
                                       std::uint64_t seed, const Budget& budget) {
  std::vector<int> positions(static_cast<std::size_t>(table.size()));
  std::iota(positions.begin(), positions.end(), 0);
  MultifitPacking fitter(table, positions);
  const bool thorough = effort.thorough && few_sequences(table);
  std::vector<BatchTarget> targets;
  const auto fits = [&](const std::vector<BatchTarget>& all, double factor, const Rule& rule) {
    targets = all;
    for (BatchTarget& target : targets) target.makespan *= factor;
    if (rule.longest_first) {
      std::ranges::sort(targets, std::greater<>(), &BatchTarget::makespan);
    } else {
      std::ranges::sort(targets, {}, &BatchTarget::makespan);
    }
    return fitter.fit(targets, rule.waste);
  };
  const std::vector<BatchTarget> asked(profile.begin(), profile.end());
  double low = 1 - kProfileReach;
  double high = 1;
  Rule rule;
  bool found = false;
  for (const double reach : kReaches) {
    high = reach;
    for (const bool unite : {thorough, true}) {
      fitter.let_unite(unite && asked.size() <= kMaxUniting);
      for (std::size_t r = 0; r < kRules.size() && !found; ++r) {
        rule = kRules[r];
        found = fits(asked, high, rule);
      }
      if (found || unite || asked.size() > kMaxUniting) break;
    }
    if (found) break;
    low = high;
  }
  if (!found) return std::nullopt;
  // A packing that replaces another one may still make the longer step, before or after planning.
  // So the best step of all packings is kept.
  std::optional<WorkingStep> best;  // the best step, if it is not the kept packing
  Ms least = kInfinity;
  const bool as_packed = is_planned_as_packed(table);
  const auto keep = [&] {
    fitter.keep();
    if (!as_packed) {
      WorkingStep step = fitter.draft();
      choose_forms(table, step);
      if (step_ms(table, step) >= least) return;
      TimedWorkingStep made = planned(table, std::move(step));
      if (made.time >= least) return;
      least = made.time;
      best = std::move(made.step);
      return;
    }
    Ms sum = 0;
    for (const BatchTarget& target : fitter.kept()) sum += target.makespan;
    const Ms now = table.step_ms(sum, longest(fitter.kept()));
    if (now <= least) {
      least = now;
      best.reset();
    } else if (!best) {
      fitter.keep();
      best = fitter.draft();
      fitter.keep();
    }
  };
  keep();
  for (int round = 0; round < effort.bisections && !budget.exhausted(); ++round) {
    const double middle = (low + high) / 2;
    if (fits(asked, middle, kRules[static_cast<std::size_t>(round) % kRules.size()]) ||
        fits(asked, middle, rule)) {
      keep();
      high = middle;
    } else {
      low = middle;
    }
  }
  QuickRandom random(seed);
  const auto below = [&random](std::size_t n) {
    return random.below(static_cast<std::uint32_t>(n));
  };
  std::vector<BatchTarget> next;
  for (int proposal = 0; proposal < effort.proposals && !budget.exhausted(); ++proposal) {
    next = fitter.kept();
    if (table.longest_weight() > 0 && below(kLevelOff) == 0) {
      level_off(next, kSteps[below(kSteps.size())], kPaidBack[below(kPaidBack.size())]);
      Ms sum = 0;
      for (const BatchTarget& target : next) sum += target.makespan;
      const Ms promised = table.step_ms(sum, longest(next));
      Ms present = 0;
      for (const BatchTarget& target : fitter.kept()) present += target.makespan;
      if (promised >= table.step_ms(present, longest(fitter.kept()))) continue;
      if (fits(next, 1, kRules[below(kRules.size())])) keep();
      continue;
    }
    // Small changes lead from one profile to another only if all profiles between them are
    // feasible. Drawn makespans skip the profiles between.
    if (thorough && table.longest_weight() == 0 && next.size() > 1 && next.size() <= kMaxDrawn &&
        below(kDrawn) == 0) {
      if (draw_anew(table, next, below) && fits(next, 1, kRules[below(kRules.size())])) {
        keep();
      }
      continue;
    }
    const std::size_t shrunk = below(next.size());
    const Ms less = next[shrunk].makespan * kSteps[below(kSteps.size())];
    next[shrunk].makespan -= less;
    const std::size_t grown = below(next.size());
    if (grown != shrunk) next[grown].makespan += less * kPaidBack[below(kPaidBack.size())];
    // In a pipeline no makespan may grow beyond the longest one, which counts several times.
    if (table.longest_weight() > 0)
      next[grown].makespan = std::min(next[grown].makespan, longest(fitter.kept()));
    if (table.recomputations() > 1 && below(kOtherWay) == 0) {
      next[shrunk].mode = static_cast<int>(below(at(table.recomputations())));
    }
    if (fits(next, 1, kRules[below(kRules.size())])) keep();
  }
  if (!best && !as_packed) return std::nullopt;
  WorkingStep step = best ? *std::move(best) : fitter.draft();
  std::erase_if(step, [](const WorkingMicroBatch& batch) { return batch.groups.empty(); });
  return step;
}

}  // namespace stowage
