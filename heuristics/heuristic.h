// One way to make a plan, by the name under which `--method` and `compare` know it. The list of a
// family is heuristics(instance) in heuristics/FAMILY/registry.h.
//
//   const ScatterTable table(instance);
//   for (const auto& heuristic : heuristics(instance)) {
//     if (auto plan = heuristic.run(instance, table, seed, budget)) ...
//   }
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "instances/budget.h"

namespace stowage {

// `run` is given the table of the instance. It returns nothing if the method cannot plan this
// instance. The hash and the bound of the plan are the caller's to set.
template <class InstanceT, class TableT, class PlanT>
struct Heuristic {
  std::string name;
  std::string summary;  // one line
  std::string source;   // paper and section, or program and file; empty for our own
  std::function<std::optional<PlanT>(const InstanceT&, const TableT&, std::uint64_t seed,
                                     const Budget&)>
      run;
};

}  // namespace stowage
