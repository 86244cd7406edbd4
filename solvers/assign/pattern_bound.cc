#include "solvers/assign/pattern_bound.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "formulations/assign/bounds.h"
#include "formulations/assign/pattern_lp.h"
#include "formulations/assign/pattern_time.h"
#include "instances/numbers.h"
#include "solvers/lp/solver.h"

namespace stowage {
namespace {

constexpr double kNoise = 1e-6;       // of the LP's objective
constexpr double kMostCells = 1.5e6;  // of the dense simplex: beyond, it takes a second
constexpr double kCertain = 1 - 1e-9;

// What the checker can work out for itself, and its name.
NamedBound checkable(const std::vector<NamedBound>& bounds) {
  NamedBound best{"longest", 0};
  for (const NamedBound& bound : bounds) {
    if (bound.name != "work" && bound.value > best.value) best = bound;
  }
  return best;
}

struct Proven {
  Ms bound = 0;
  Ms closed = 0;  // the greatest of the closed bounds
  StrategyProof proof;
};

// Between a time that is surely too short and one that may be enough: where the prices of the last
// LP prove much, there, and else in the middle.
void improve(const AssignTable& table, int strategy, Ms upper, const PatternBoundOptions& options,
             Budget& budget, Proven& best) {
  Ms low = std::max(best.bound, best.closed);
  Ms high = upper;
  Ms time = upper;
  std::vector<std::vector<RowRange>> ranges = first_ranges(table, strategy, upper);
  for (int round = 0; round < options.rounds && best.bound < upper * (1 - options.near); ++round) {
    if (budget.exhausted()) return;
    const AssignPatterns patterns(table, strategy, time, ranges, options.bands);
    const double cells = static_cast<double>(patterns.model().rows().size()) *
                         static_cast<double>(patterns.model().variables().size());
    if (!options.backend && cells > kMostCells) return;
    const LpResult result = solve_lp(options.backend, patterns.model(), {}, budget);
    budget.count_nodes(1);
    if (!result.optimal) return;
    StrategyProof proof = patterns.proof(result.duals, best.proof.strategy);
    const Ms proven = proven_time(table, strategy, proof, best.bound, upper);
    if (proven > best.bound) best = {proven, best.closed, std::move(proof)};
    std::vector<std::vector<RowRange>> finer = patterns.finer(result.values);
    if (!finer.empty()) {
      ranges = std::move(finer);
      high = upper;  // what was enough need not be so in finer patterns
    } else if (high - low < options.near * high) {
      return;
    }
    (result.objective > 1 + kNoise ? low : high) = time;
    low = std::max(low, proven);
    time = proven > low * kCertain && proven < high * (1 - options.near) && proven != time
               ? proven
               : low + (high - low) / 2;
  }
}

}  // namespace

PatternBound pattern_bound(const AssignInstance& instance, const AssignTable& table, Ms upper,
                           const PatternBoundOptions& options, Budget& budget) {
  PatternBound out;
  out.strategies.assign(instance.strategies.size(), kInfinity);
  if (table.size() == 0) return out;
  std::vector<Proven> proven(instance.strategies.size());
  std::vector<std::size_t> order;
  for (std::size_t s = 0; s < instance.strategies.size(); ++s) {
    const int strategy = static_cast<int>(s);
    if (!table.usable(strategy)) continue;
    if (budget.exhausted()) {
      out.strategies.clear();
      return out;
    }
    const std::vector<NamedBound> bounds = strategy_bounds(table, strategy, budget);
    const NamedBound closed = checkable(bounds);
    proven[s] = {closed.value * kCertain,
                 bounds.back().value,
                 {instance.strategies[s].name, closed.name, {}}};
    order.push_back(s);
  }
  if (order.empty()) return out;
  // The weakest first: the others need to reach no more than it does.
  std::ranges::stable_sort(order, {}, [&](std::size_t s) { return proven[s].bound; });
  Ms least = upper;
  for (const std::size_t s : order) {
    improve(table, static_cast<int>(s), least, options, budget, proven[s]);
    out.strategies[s] = proven[s].bound;
    least = std::min(least, proven[s].bound);
  }
  if (!(least > 0)) return out;
  out.certificate = AssignCertificate{.bound_ms = least * kCertain};
  std::ranges::sort(order);
  for (const std::size_t s : order) {
    out.certificate->strategies.push_back(std::move(proven[s].proof));
  }
  return out;
}

}  // namespace stowage
