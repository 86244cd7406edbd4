#include "solvers/milp/solver.h"

#include <cassert>

#include "solvers/milp/backend.h"
#ifdef STOWAGE_WITH_CBC
#include "solvers/milp/cbc_solver.h"
#endif
#ifdef STOWAGE_WITH_GLPK
#include "solvers/milp/glpk_solver.h"
#endif
#ifdef STOWAGE_WITH_HIGHS
#include "solvers/highs/highs_solver.h"
#endif

namespace stowage {

MilpResult solve_milp(MilpBackend backend, const milp::Model& model, const MilpParams& params,
                      Budget& budget, const MilpObserver& observer) {
  MilpRun run;
#ifdef STOWAGE_WITH_CBC
  if (backend == MilpBackend::cbc) run = run_cbc;
#endif
#ifdef STOWAGE_WITH_GLPK
  if (backend == MilpBackend::glpk) run = run_glpk;
#endif
#ifdef STOWAGE_WITH_HIGHS
  if (backend == MilpBackend::highs) run = run_highs;
#endif
  assert(run && "backend is not built in");
  if (!run) {
    return {.status = MilpStatus::error,
            .detail = "the " + std::string(name(backend)) + " backend is not built in"};
  }
  return run_checked(run, model, params, budget, observer);
}

}  // namespace stowage
