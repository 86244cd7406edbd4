// The stages of one class and layout of a strategy instance as a mixed-integer programme, for
// cross-checks and other solvers.
//
//   const StrategyMip mip = build_strategy_mip(costs, StrategyMipForm::path);
//   const std::vector<StagePlan> stages = decode(mip, values);
//
// A binary says that a stage has a range of layers with a choice; those that do not fit the memory
// are not there. The path has a binary for each range, in units of flow from stage to stage; where
// all layers are equal, the folded form counts layers alone. Times are in ms. Rows and their
// numbers, SM1 to SM7, are those of formulations/README.md.
//
// Thread safety: its functions read their arguments and nothing else.
#pragma once

#include <cstdint>
#include <vector>

#include "formulations/milp/model.h"
#include "instances/strategy/compose.h"
#include "instances/strategy/table.h"

namespace stowage {

enum class StrategyMipForm { path, folded };

struct StrategyMip {
  struct Binary {
    std::int64_t stage = 0;
    std::int64_t first = 0;  // layer; 0 in the folded form
    StagePlan its;
  };

  milp::Model model;
  std::vector<Binary> binaries;  // of the model's first variables
  bool empty = false;            // some stage fits with no number of layers
};

// How many binary variables the model has.
std::int64_t strategy_mip_binaries(const StageCosts& costs, StrategyMipForm form);

// The folded form requires equal layers.
StrategyMip build_strategy_mip(const StageCosts& costs, StrategyMipForm form);

// The stages of a point, whose binaries need only be near 0 and 1.
std::vector<StagePlan> decode(const StrategyMip& mip, const std::vector<double>& values);

}  // namespace stowage
