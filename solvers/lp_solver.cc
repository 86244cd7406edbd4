#include "solvers/lp_solver.h"

#include <exception>

#include "solvers/dense_simplex.h"

#ifdef STOWAGE_WITH_CBC
#include "solvers/clp_solver.h"
#endif
#ifdef STOWAGE_WITH_GLPK
#include "solvers/glpk_simplex.h"
#endif

namespace stowage {

LpResult solve_lp(std::optional<MilpBackend> backend, const milp::Model& model,
                  [[maybe_unused]] const LpBasis& start, Budget& budget) {
  if (budget.exhausted()) return {.limit = budget.stop_reason(), .detail = "no time left"};
  if (!backend) return run_dense_simplex(model, budget);
  try {
#ifdef STOWAGE_WITH_CBC
    if (backend == MilpBackend::cbc) return run_clp(model, start, budget);
#endif
#ifdef STOWAGE_WITH_GLPK
    if (backend == MilpBackend::glpk) return run_glpk_simplex(model, start, budget);
#endif
  } catch (const std::exception& failure) {
    return {.detail = failure.what()};
  }
  return {.detail = "the " + std::string(name(*backend)) + " backend is not built in"};
}

}  // namespace stowage
