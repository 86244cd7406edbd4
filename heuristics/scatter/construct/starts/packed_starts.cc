#include "heuristics/scatter/construct/starts/packed_starts.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "heuristics/scatter/construct/chunking.h"
#include "heuristics/scatter/construct/multifit/multifit.h"
#include "heuristics/scatter/construct/starts/hopeful_counts.h"
#include "heuristics/scatter/construct/starts/start_field.h"
#include "heuristics/scatter/improve/rule_repair.h"
#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

constexpr int kDrops = 2;  // profiles per start: all makespans, and all but the shortest
// Proposals per packed start and per annealing move of a sequence, at most.
constexpr double kProposals = 0.6;
constexpr double kPackingWork = 1000;  // packing_work() of all proposals per such move
constexpr double kMaxPacking = 20000;  // packing_work() above which a step is not packed

// Returns the best start of each number of micro-batches, fewest micro-batches first.
std::map<std::size_t, const WorkingStep*> best_by_count(const ScatterTable& table,
                                                        const std::vector<WorkingStep>& field) {
  std::map<std::size_t, const WorkingStep*> best;
  for (const WorkingStep& step : field) {
    const WorkingStep*& known = best[step.size()];
    if (known == nullptr || step_ms(table, step) < step_ms(table, *known)) known = &step;
  }
  return best;
}

// Returns the work of one packing, in distinct lengths times micro-batches.
double packing_work(const ScatterTable& table, std::size_t micro_batches) {
  return static_cast<double>(table.kinds().size() * micro_batches);
}

// Returns starts packed for equal makespans.
std::vector<WorkingStep> over_even_profiles(const ScatterTable& table, std::uint64_t seed,
                                            const Budget& budget) {
  std::vector<WorkingStep> packed;
  const Ms even = table.total_area() / table.devices();
  for (const int count : hopeful_counts(table)) {
    if (budget.exhausted() || packing_work(table, at(count)) > kMaxPacking) break;
    const Ms makespan = std::max(table.alone(0), table.least_overhead() + even / count);
    for (int mode = 0; mode < table.recomputations(); ++mode) {
      const std::vector<BatchTarget> targets(at(count), BatchTarget{makespan, mode});
      add_start(
          table,
          fit_profile(table, targets, {.proposals = 0, .thorough = true}, as_planned, seed, budget),
          packed);
    }
  }
  return packed;
}

}  // namespace

std::vector<WorkingStep> packed_starts(const ScatterTable& table,
                                       const std::vector<WorkingStep>& field, double moves,
                                       int most, std::uint64_t seed, const Budget& budget) {
  std::vector<WorkingStep> packed;
  const auto fewest = static_cast<std::size_t>(fewest_micro_batches(table));
  for (const auto& [count, step] : best_by_count(table, field)) {
    if (packing_work(table, count) > kMaxPacking) break;
    std::vector<BatchTarget> targets = targets_of(table, *step);
    for (int dropped = 0; dropped < kDrops; ++dropped) {
      if (targets.size() < std::max<std::size_t>(2, fewest) || budget.exhausted()) break;
      add_start(
          table,
          fit_profile(table, targets, {.proposals = 0, .thorough = true}, as_planned, seed, budget),
          packed);
      targets.resize(targets.size() - std::min(targets.size(), at(table.multiple())));
    }
  }
  if (table.longest_weight() > 0) {
    for (WorkingStep& step : over_even_profiles(table, seed, budget))
      packed.push_back(std::move(step));
  }
  keep_best(table, packed, at(most));
  for (WorkingStep& step : packed) {
    const double work = packing_work(table, step.size() * packed.size());
    const double proposals =
        std::min(kProposals * moves, kPackingWork * moves / work) / packing_slowdown(table);
    auto made = fit_profile(table, targets_of(table, step),
                            {.proposals = static_cast<int>(proposals), .thorough = true},
                            as_planned, seed, budget);
    if (made && step_ms(table, *made) < step_ms(table, step)) step = std::move(*made);
  }
  return packed;
}

}  // namespace stowage
