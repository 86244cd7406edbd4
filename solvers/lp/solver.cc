#include "solvers/lp/solver.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <utility>

#include "formulations/milp/scaling.h"
#include "solvers/lp/dense_simplex.h"

#ifdef STOWAGE_WITH_CBC
#include "solvers/lp/clp_solver.h"
#endif
#ifdef STOWAGE_WITH_GLPK
#include "solvers/lp/glpk_simplex.h"
#endif
#ifdef STOWAGE_WITH_HIGHS
#include "solvers/highs/highs_simplex.h"
#endif

namespace stowage {
namespace {

// If the largest cost lies between these values, costs are not scaled, because the caller chooses
// the units. Outside, absolute tolerances are useless, and Clp ends the process at 1e25.
constexpr double kSmallCost = 0x1p-20;
constexpr double kLargeCost = 0x1p40;
// Limit for all other numbers, which are not scaled here.
constexpr double kLargestNumber = 1e15;

LpResult run_backend(std::optional<MilpBackend> backend, const milp::Model& model,
                     const LpBasis& start, Budget& budget) {
  if (!backend) return run_dense_simplex(model, start, budget);
  try {
#ifdef STOWAGE_WITH_CBC
    if (backend == MilpBackend::cbc) return run_clp(model, start, budget);
#endif
#ifdef STOWAGE_WITH_GLPK
    if (backend == MilpBackend::glpk) return run_glpk_simplex(model, start, budget);
#endif
#ifdef STOWAGE_WITH_HIGHS
    if (backend == MilpBackend::highs) return run_highs_simplex(model, start, budget);
#endif
  } catch (const std::exception& failure) {
    return {.detail = failure.what()};
  }
  return {.detail = "the " + std::string(name(*backend)) + " backend is not built in"};
}

// Solves the model with scaled costs, and scales prices and objective back.
LpResult run_with_costs_scaled(std::optional<MilpBackend> backend, const milp::Model& model,
                               const LpBasis& start, double largest, Budget& budget) {
  const milp::Scaling scaling{.row = std::vector<int>(model.rows().size()),
                              .column = std::vector<int>(model.variables().size()),
                              .objective = -std::ilogb(largest)};
  LpResult result = run_backend(backend, milp::apply(scaling, model), start, budget);
  result.objective = std::ldexp(result.objective, -scaling.objective);
  for (double& dual : result.duals) dual = std::ldexp(dual, -scaling.objective);
  return result;
}

}  // namespace

LpResult solve_lp(std::optional<MilpBackend> backend, const milp::Model& model,
                  const LpBasis& start, Budget& budget) {
  if (budget.exhausted()) return {.limit = budget.stop_reason(), .detail = "no time left"};
  const milp::RangeReport ranges = milp::coefficient_ranges(model);
  const double largest = ranges.objective.max;
  if (std::max(ranges.rows.max, ranges.bounds.max) > kLargestNumber) {
    return {.detail = "numbers too large to be trusted: " + milp::to_string(ranges)};
  }
  if (largest == 0 || (largest >= kSmallCost && largest <= kLargeCost)) {
    return run_backend(backend, model, start, budget);
  }
  return run_with_costs_scaled(backend, model, start, largest, budget);
}

}  // namespace stowage
