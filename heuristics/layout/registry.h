// Every layout heuristic by the name under which `--method` and `compare` know it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "instances/budget.h"
#include "instances/layout/instance.h"
#include "instances/layout/plan.h"
#include "instances/layout/table.h"

namespace stowage {

// One way to make a layout plan; the table is that of the instance. `run` returns nothing if the
// method has no plan: pinned buffers clash, its peak would exceed the capacity of the instance, all
// buffers on a stack would exceed kMaxExact, or the budget ended too early. The hash and the bound
// are the caller's to set.
struct LayoutHeuristic {
  std::string name;
  std::string summary;  // one line
  std::string source;   // paper and section, or program and file; empty for our own
  std::function<std::optional<LayoutPlan>(const LayoutInstance&, const LayoutTable&,
                                          std::uint64_t seed, const Budget&)>
      run;
};

// Published baselines first, then ours from quick to thorough.
std::vector<LayoutHeuristic> layout_heuristics();

}  // namespace stowage
