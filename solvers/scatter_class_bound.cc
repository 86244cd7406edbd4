#include "solvers/scatter_class_bound.h"

#include <algorithm>

#include "formulations/scatter_bounds.h"
#include "formulations/scatter_class_lp.h"

namespace stowage {
namespace {

// Floating-point LPs overshoot: a makespan counts as refuted only if the devices needed exceed N
// by this fraction.
constexpr double kRefuted = 1e-6;
constexpr double kClose = 1e-7;
// Some fifty of them are solved; larger ones take too long for what they prove.
constexpr std::size_t kLargestClassLp = 20000;  // variables

bool refuted(const ScatterInstance& instance, std::span<const LengthClass> classes,
             MilpBackend backend, bool integral, Ms limit, Budget& budget) {
  const ScatterClassLp lp = build_scatter_class_lp(instance, classes, limit, integral);
  if (!lp.possible) return true;
  const MilpResult result = solve_milp(backend, lp.model, {}, budget);
  if (result.status == MilpStatus::infeasible || result.status == MilpStatus::error) return false;
  return result.bound > instance.cluster.devices * (1 + kRefuted);
}

}  // namespace

Ms class_bound(const ScatterInstance& instance, std::span<const LengthClass> classes,
               MilpBackend backend, bool integral, Ms lower, Ms upper, Budget& budget) {
  while (upper - lower > kClose * upper && !budget.exhausted()) {
    const Ms middle = lower + (upper - lower) / 2;
    if (refuted(instance, classes, backend, integral, middle, budget)) {
      lower = middle;
    } else {
      upper = middle;
    }
  }
  return lower;
}

std::optional<NamedBound> step_class_bound(const ScatterInstance& instance, MilpBackend backend,
                                           bool integral, Ms known, Ms objective, Budget& budget) {
  const ScatterTable table(instance);
  if (least_micro_batches(table) > 1) return std::nullopt;
  if (table.kinds().size() * table.levels().size() > kLargestClassLp) return std::nullopt;
  const Ms two = 2 * table.least_overhead() + table.total_area() / table.devices();
  if (two <= known) return std::nullopt;
  const std::vector<LengthClass> classes = exact_classes(table);
  const Ms one =
      class_bound(instance, classes, backend, integral, known, std::min(objective, two), budget);
  if (std::min(one, two) <= known) return std::nullopt;
  return NamedBound{integral ? "class-mip" : "class-lp", std::min(one, two)};
}

}  // namespace stowage
