// Every assign heuristic by the name under which `--method` and `compare` know it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "instances/assign/instance.h"
#include "instances/assign/plan.h"
#include "instances/budget.h"

namespace stowage {

// One way to make an assign plan. `run` returns nothing if the method cannot plan this step: no
// strategy holds the longest sequence, a method for one scheme meets only mixed strategies, or its
// rows cannot be made to obey the row constraints. The hash and the bound are the caller's to set.
struct AssignHeuristic {
  std::string name;
  std::string summary;  // one line
  std::string source;   // paper and section, or program and file; empty for our own
  std::function<std::optional<AssignPlan>(const AssignInstance&, std::uint64_t seed, const Budget&)>
      run;
};

// Published baselines first, then ours from quick to thorough. All choose the strategy, too.
std::vector<AssignHeuristic> assign_heuristics();

}  // namespace stowage
