// Hydraulis as published, with its row ILPs: heuristics/assign/hydraulis.h and a MILP backend.
#pragma once

#include <optional>
#include <string>

#include "heuristics/assign/hydraulis.h"
#include "instances/assign/instance.h"
#include "instances/assign/plan.h"
#include "instances/budget.h"
#include "solvers/milp/solver.h"

namespace stowage {

struct HydraulisOptions {
  MilpBackend backend = MilpBackend::cbc;
  HydraulisScore score = HydraulisScore::published;
  std::uint64_t seed = 0;
  double milp_seconds = 0.5;  // of each row ILP, as published; results depend on the machine
};

struct HydraulisResult {
  std::optional<AssignPlan> plan;
  int milps = 0;          // solved
  int milps_stopped = 0;  // of these, ended by a limit before their proof
  int too_large = 0;      // not tried: writing them down takes longer than their limit
  std::string detail;     // what the last failing ILP said; empty if none failed
};

// Every ILP starts from rows by LPT, which also stand where it finds nothing better. Up to 20 of
// them per replica: minutes per step with its published limit.
HydraulisResult hydraulis_by_milp(const AssignInstance& instance, const HydraulisOptions& options,
                                  Budget& budget);

}  // namespace stowage
