// A heuristic under the name that `--method` and `compare` use. The function heuristics(instance)
// in heuristics/FAMILY/registry.h lists the heuristics of a family.
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

// `run` takes the table of the instance. It returns nullopt if the method finds no plan for this
// instance. The caller sets the hash and the bound of the plan.
template <class InstanceT, class TableT, class PlanT>
struct Heuristic {
  std::string name;
  std::string summary;  // one line
  std::string source;   // paper and section, or program and file; empty for methods of this library
  std::function<std::optional<PlanT>(const InstanceT&, const TableT&, std::uint64_t seed,
                                     const Budget&)>
      run;
};

}  // namespace stowage
