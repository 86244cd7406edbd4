#include "solvers/scatter/class_bound.h"

#include <algorithm>
#include <cmath>

#include "formulations/scatter/bounds.h"
#include "formulations/scatter/class_lp.h"

namespace stowage {
namespace {

// Floating-point LPs overshoot: a makespan counts as refuted only if the devices needed exceed N
// by this fraction.
constexpr double kRefuted = 1e-6;
constexpr double kClose = 1e-7;
// Some fifty of them are solved; larger ones take too long for what they prove.
constexpr std::size_t kLargestClassLp = 20000;  // variables

bool refuted(const ScatterInstance& instance, std::span<const LengthClass> classes,
             MilpBackend backend, bool integral, Ms limit, Budget& budget, std::string& failure) {
  const ScatterClassLp lp = build_scatter_class_lp(instance, classes, limit, integral);
  if (!lp.possible) return true;
  const MilpResult result = solve_milp(backend, lp.model, {}, budget);
  if (result.status == MilpStatus::error) failure = result.detail;
  if (result.status == MilpStatus::infeasible || result.status == MilpStatus::error) return false;
  return result.bound > instance.cluster.devices * (1 + kRefuted);
}

}  // namespace

Ms class_bound(const ScatterInstance& instance, std::span<const LengthClass> classes,
               MilpBackend backend, bool integral, Ms lower, Ms upper, Budget& budget,
               std::string& failure) {
  while (upper - lower > kClose * upper && !budget.exhausted()) {
    const Ms middle = lower + (upper - lower) / 2;
    if (refuted(instance, classes, backend, integral, middle, budget, failure)) {
      lower = middle;
    } else {
      upper = middle;
    }
  }
  return lower;
}

StepClassBound step_class_bound(const ScatterInstance& instance, MilpBackend backend, bool integral,
                                Ms known, Ms objective, Ms one_batch, Budget& budget) {
  const ScatterTable table(instance);
  if (least_micro_batches(table) > 1) return {};
  if (table.kinds().size() * table.levels().size() > kLargestClassLp) return {};
  const Ms two = 2 * table.least_overhead() + table.total_area() / table.devices();
  if (two <= known) return {};
  const std::vector<LengthClass> classes = exact_classes(table);
  StepClassBound result;
  const Ms one = class_bound(instance, classes, backend, integral, known, std::min(objective, two),
                             budget, result.failure);
  if (std::min(one, two) <= known) return result;
  const std::string name = integral ? "class-mip" : "class-lp";
  if (std::isfinite(one_batch) && refuted(instance, classes, backend, false,
                                          one_batch * (1 + kClose), budget, result.failure)) {
    result.failure = name + " refutes a verified plan as well and is ignored";
    return result;
  }
  result.bound = NamedBound{name, std::min(one, two)};
  return result;
}

}  // namespace stowage
