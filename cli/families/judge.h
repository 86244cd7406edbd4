// What the command finds out about a plan by itself.
#pragma once

#include <optional>
#include <vector>

#include "cli/families/load.h"
#include "formulations/bound.h"
#include "instances/pictures/shown_bound.h"
#include "instances/violation.h"

namespace stowage {

// All that can be said of a plan here and now.
struct Judgement {
  std::vector<Violation> violations;  // of the plan, and of the outcome that it stands in
  std::optional<NamedBound> proven;   // the best bound that was computed or certified here
  ShownBounds shown;                  // `proven`, and what the plan claims if that is more
};
Judgement judge(const InstanceAndPlan& both);

}  // namespace stowage
