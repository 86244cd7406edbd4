// The context that the stages of one assign solve share. Not installed.
#pragma once

#include <optional>
#include <vector>

#include "heuristics/assign/working_plan.h"
#include "instances/assign/certificate.h"
#include "instances/assign/instance.h"
#include "instances/assign/planning_table.h"
#include "solvers/assign/bounds/known_proofs.h"
#include "solvers/assign/params.h"
#include "solvers/family_solve.h"
#include "solvers/stage.h"

namespace stowage {

struct AssignContext : SolveContext<AssignInstance> {
  const AssignTable table;
  const AssignParams params;
  std::optional<Refutation>& refuted;  // set by a stage that proves that no plan exists
  bool& gap_ended_it;
  bool& time_ended_it;

  std::vector<AssignWorkingPlan> drafts = {};  // the best draft of each strategy, the fastest first
  std::vector<AssignPlan> plans = {};          // plans of the first drafts, limited by time
  std::optional<AssignCertificate> certificate = {};  // the certificate that the checker confirmed
  KnownProofs known = {};                             // the best proof of each strategy
  double reserve_s = 0;  // seconds reserved for composing and verifying a plan

  bool exact() const { return options.method == "exact"; }

  // Returns true if the solve stops before the next stage.
  bool done() const {
    if (!incumbent.plan()) return budget.exhausted();
    gap_ended_it = incumbent.within(options.gap);
    return gap_ended_it || incumbent.proven() || out_of_time();
  }

  // Returns true if too little time is left for composing and verifying another plan.
  bool out_of_time() const {
    if (budget.seconds_left() <= reserve_s) time_ended_it = true;
    return time_ended_it || budget.exhausted();
  }

  Budget part_for_plans() const {
    return budget.part(budget.seconds_left() - reserve_s, budget.nodes_left());
  }
};

}  // namespace stowage
