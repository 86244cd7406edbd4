// What the command finds out about a plan by itself, or about an outcome that has none.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/families/load.h"
#include "instances/pictures/shown_bound.h"
#include "instances/proof.h"
#include "instances/violation.h"

namespace stowage {

// All that can be said of a plan here and now.
struct Judgement {
  std::vector<Violation> violations;  // of the plan, of its bound, and of the outcome around it
  std::optional<NamedBound> proven;   // the best bound that was computed or certified here
  ShownBounds shown;                  // `proven`, and what the plan claims if that is more
  // Whether the bound that the plan claims is proven here: it is at most `proven`.
  bool is_proven() const { return violations.empty() && !shown.claimed; }
};

// The rules beyond those of plans, outcomes and certificates:
//   claimed_bound  a bound has a name that the family knows; one that is computed again here, or
//                  whose certificate is at hand, is at most what that proves
Judgement judge(const InstanceAndPlan& both);

// The same of the claim that there is no plan.
struct InfeasibleJudgement {
  std::vector<Violation> violations;
  bool proven = false;  // by what the outcome says and the instance alone
  std::string by;       // the name of its proof; "none" if only a search says so
};
InfeasibleJudgement judge(const InfeasibleAnswer& answer);

}  // namespace stowage
