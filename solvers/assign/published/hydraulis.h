// Hydraulis as published, with its row ILPs: heuristics/assign/published/hydraulis.h with a MILP
// backend.
#pragma once

#include <optional>
#include <string>

#include "heuristics/assign/published/hydraulis.h"
#include "instances/assign/instance.h"
#include "instances/assign/plan.h"
#include "instances/budget.h"
#include "solvers/milp/solver.h"

namespace stowage {

struct HydraulisOptions {
  MilpBackend backend = MilpBackend::cbc;
  HydraulisScore score = HydraulisScore::published;
  std::uint64_t seed = 0;
  // time limit of each row ILP, as published; results depend on the machine
  double milp_seconds = 0.5;
};

struct HydraulisResult {
  std::optional<AssignPlan> plan;
  int milps = 0;          // number of ILPs solved
  int milps_stopped = 0;  // number of these that a limit ended before their proof
  int too_large = 0;   // number of ILPs not built, because building takes longer than their limit
  std::string detail;  // detail of the last failed ILP; empty if none failed
};

// Returns the plan of Hydraulis. Every ILP starts from rows by LPT, which are kept if the ILP finds
// no better rows. Each replica needs up to 20 ILPs, so a step takes minutes with the published
// limit.
HydraulisResult hydraulis_by_milp(const AssignInstance& instance, const HydraulisOptions& options,
                                  Budget& budget);

}  // namespace stowage
