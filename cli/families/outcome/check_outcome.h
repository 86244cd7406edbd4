// Verifies a plan, or an outcome without a plan, with all available proofs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/families/load.h"
#include "instances/pictures/shown_bound.h"
#include "instances/proof.h"
#include "instances/violation.h"

namespace stowage {

// The result of all checks of a plan.
struct CheckedOutcome {
  std::vector<Violation> violations;  // violations by the plan, its bound and its outcome
  std::optional<NamedBound> proven;   // best bound that was recomputed or certified
  ShownBounds shown;                  // `proven`, and the plan's claimed bound if that is higher
  // Returns whether the plan's claimed bound is at most `proven`.
  bool is_proven() const { return violations.empty() && !shown.claimed; }
};

// The rules in addition to those of plans, outcomes and certificates:
CheckedOutcome judge(const InstanceAndPlan& both);

// The result of all checks of an outcome that claims infeasibility.
struct CheckedInfeasibility {
  std::vector<Violation> violations;
  bool proven = false;  // proven from the outcome and the instance alone
  std::string by;       // name of the proof; "none" if only a search claims it
};
CheckedInfeasibility judge(const InfeasibleAnswer& answer);

}  // namespace stowage
