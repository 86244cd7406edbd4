#include "solvers/assign/bounds/pattern_bound.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "formulations/assign/bounds.h"
#include "formulations/assign/lp/pattern_lp.h"
#include "formulations/assign/lp/pattern_time.h"
#include "instances/numeric/numbers.h"
#include "solvers/assign/bounds/known_proofs.h"
#include "solvers/lp/solver.h"

namespace stowage {
namespace {

// Relative rounding error of an LP's objective.
constexpr double kNoise = 1e-6;
// Cells of the largest LP that the dense simplex solves in less than a second.
constexpr double kMaxCells = 1.5e6;
// Relative width of the search interval above which a round is not counted as futile, because it
// halves the interval.
constexpr double kWideRound = 0.02;

// Returns the best bound that the checker computes itself, with its name.
NamedBound checkable(const std::vector<NamedBound>& bounds) {
  NamedBound best{"longest", 0};
  for (const NamedBound& bound : bounds) {
    if (bound.name != "work" && bound.value > best.value) best = bound;
  }
  return best;
}

struct Proven {
  Ms bound = 0;
  Ms closed = 0;  // the largest closed bound
  StrategyProof proof;
};

struct Asked {
  const AssignTable& table;
  const PatternBoundOptions& options;
  Budget& budget;
};

// Solves one LP, from the basis of the last LP if both have equal numbers of rows and variables.
// Returns true if it was solved. If its prices prove more than `best`, at most `upper`, writes the
// proof to `best`.
bool ask(const Asked& asked, int strategy, Ms upper, const AssignPatterns& patterns,
         LpResult& result, Proven& best) {
  const std::optional<MilpBackend>& backend = asked.options.backend;
  const double cells = static_cast<double>(patterns.model().rows().size()) *
                       static_cast<double>(patterns.model().variables().size());
  if (asked.budget.exhausted() || (!backend && cells > kMaxCells)) return false;
  // The coefficients differ from those of the last LP, and only a backend accepts a basis that is
  // neither primal nor dual feasible.
  const bool alike = backend && result.basis.rows.size() == patterns.model().rows().size() &&
                     result.basis.variables.size() == patterns.model().variables().size();
  result = solve_lp(backend, patterns.model(), alike ? result.basis : LpBasis{}, asked.budget);
  if (alike && !result.optimal) result = solve_lp(backend, patterns.model(), {}, asked.budget);
  asked.budget.count_nodes(1);
  if (!result.optimal) return false;
  StrategyProof proof = patterns.proof(result.duals, best.proof.strategy);
  const Ms proven = proven_time(asked.table, strategy, proof, best.bound, upper);
  if (proven > best.bound) best = {proven, best.closed, std::move(proof)};
  return true;
}

// Tries a small LP, which refutes most strategies, since few strategies are near the best.
void refute_roughly(const Asked& asked, int strategy, Ms upper, Proven& best) {
  const PatternDetail rough = PatternDetail::rough;
  const AssignPatterns patterns(asked.table, strategy, upper,
                                first_ranges(asked.table, strategy, upper, rough), rough);
  LpResult result;
  ask(asked, strategy, upper, patterns, result, best);
}

// Searches between a time that is proven too short and a time that may suffice. If the prices of
// the last LP prove a higher bound, the next time is this bound. Otherwise it is the midpoint.
void improve(const Asked& asked, int strategy, Ms upper, Proven& best) {
  const PatternBoundOptions& options = asked.options;
  Ms low = std::max(best.bound, best.closed);
  Ms high = upper;
  Ms time = upper;
  std::vector<std::vector<RowRange>> ranges = first_ranges(asked.table, strategy, upper);
  LpResult result;
  int in_vain = 0;
  for (int round = 0; round < options.rounds && best.bound < upper * (1 - options.near); ++round) {
    const AssignPatterns patterns(asked.table, strategy, time, ranges, options.detail);
    const Ms before = best.bound;
    if (!ask(asked, strategy, upper, patterns, result, best)) return;
    std::vector<std::vector<RowRange>> finer = patterns.finer(result.values);
    const bool whole = finer.empty();
    if (!whole) {
      ranges = std::move(finer);
      high = upper;  // finer patterns may refute a time that coarser patterns did not
    } else if (high - low < options.near * high) {
      return;
    }
    // At the longest time proven so far, another LP raises the bound by little.
    const bool settled = whole && time == before && result.objective > 1 + kNoise &&
                         result.objective < 1 + options.near &&
                         best.bound < time * (1 + options.near);
    if (settled) return;
    (result.objective > 1 + kNoise ? low : high) = time;
    low = std::max(low, best.bound);
    const bool raised = best.bound > before * (1 + options.near);
    in_vain = raised || high - low > kWideRound * high ? 0 : in_vain + 1;
    if (in_vain == options.patience) return;
    const bool more = best.bound > before && best.bound > low * kCertain;
    time = more && best.bound < high * (1 - options.near) && best.bound != time
               ? best.bound
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
  // The weakest strategy comes first: the bounds of the others need not exceed its bound.
  std::ranges::stable_sort(order, {}, [&](std::size_t s) { return proven[s].bound; });
  const Asked asked{table, options, budget};
  Ms least = upper;
  for (const std::size_t s : order) {
    const int strategy = static_cast<int>(s);
    if (options.rounds > 0 && proven[s].bound < least * (1 - options.near)) {
      refute_roughly(asked, strategy, upper, proven[s]);
    }
    improve(asked, strategy, least, proven[s]);
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
