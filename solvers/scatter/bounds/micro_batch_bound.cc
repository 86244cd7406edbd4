#include "solvers/scatter/bounds/micro_batch_bound.h"

#include "formulations/scatter/lp/class_lp.h"

namespace stowage {
namespace {

// Floating-point LPs overshoot. A makespan counts as refuted only if the devices needed exceed N by
// this share.
constexpr double kRefuted = 1e-6;
constexpr double kCloseClasses = 1e-7;

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
  while (upper - lower > kCloseClasses * upper && !budget.exhausted()) {
    const Ms middle = lower + (upper - lower) / 2;
    if (refuted(instance, classes, backend, integral, middle, budget, failure)) {
      lower = middle;
    } else {
      upper = middle;
    }
  }
  return lower;
}

}  // namespace stowage
