// Every scatter heuristic by the name under which `--method` and `compare` know it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "instances/budget.h"
#include "instances/scatter/instance.h"
#include "instances/scatter/plan.h"
#include "instances/scatter/table.h"

namespace stowage {

// One way to make a scatter plan; the table is that of the instance. `run` returns nothing if the
// method cannot plan this instance, e.g. a homogeneous degree whose memory is too small for the
// longest sequence. It requires an instance without unplaceable sequences.
struct ScatterHeuristic {
  std::string name;
  std::string summary;  // one line
  std::string source;   // paper and section; empty for our own
  std::function<std::optional<ScatterPlan>(const ScatterInstance&, const ScatterTable&,
                                           std::uint64_t seed, const Budget&)>
      run;
};

// Published baselines first, then ours from quick to thorough. Homogeneous degrees are those of
// the instance.
std::vector<ScatterHeuristic> scatter_heuristics(const ScatterInstance& instance);

}  // namespace stowage
