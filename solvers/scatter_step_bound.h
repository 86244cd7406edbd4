// The step LP of formulations/scatter_step_lp.h turned into a certified bound on the step.
//
//   StepBoundOptions options{.backend = backend, .upper = plan.objective_ms};
//   improve_step_bound(instance, options, budget, [&](const ScatterCertificate& better) { ... });
#pragma once

#include <functional>
#include <optional>

#include "instances/budget.h"
#include "instances/scatter.h"
#include "instances/scatter_certificate.h"
#include "solvers/milp_solver.h"

namespace stowage {

struct StepBoundOptions {
  MilpBackend backend = MilpBackend::cbc;
  Ms upper = 0;            // a known plan's objective: makespans beyond it are of no interest
  double resolution = 80;  // sequences are merged up to this part of the step's area
  double ratio = 1.25;     // of successive makespans to begin with
  int breaks = 4;          // longest kinds whose times alone are makespans to begin with
  int refinements = 20;    // of the grid, at most
};

// Called with certificates of increasing bounds, each already tested by check_certificate.
using CertificateSink = std::function<void(const ScatterCertificate&)>;

// Solves the step LP on finer and finer grids until the bound stops rising or the budget ends.
// Requires every sequence to fit some level.
void improve_step_bound(const ScatterInstance& instance, const StepBoundOptions& options,
                        Budget& budget, const CertificateSink& sink);

}  // namespace stowage
