// The stages of one class and layout of a strategy instance as a mixed-integer programme, for
// cross-checks and other solvers.
//
//   const StrategyMip mip = build_strategy_mip(costs, StrategyMipForm::path);
//   const std::vector<StagePlan> stages = decode(mip, values);
//
// A binary means that a stage has a range of layers with a choice. Ranges and choices that exceed
// the memory have no binary. The path form has a binary for each range, as flow from stage to
// stage. If all layers are equal, the folded form only counts layers. Times are in ms. Rows SM1 to
// SM7 are in docs/theory/strategy.md.
//
// Thread safety: the functions only read their arguments.
#pragma once

#include <cstdint>
#include <vector>

#include "formulations/milp/model.h"
#include "instances/strategy/cost/stage_costs.h"
#include "instances/strategy/plan_builder.h"

namespace stowage {

enum class StrategyMipForm { path, folded };

struct StrategyMip {
  struct Binary {
    std::int64_t stage = 0;
    std::int64_t first = 0;  // first layer; 0 in the folded form
    StagePlan its;
  };

  milp::Model model;
  std::vector<Binary> binaries;  // of the model's first variables, in their order
  bool empty = false;            // some stage fits no number of layers
};

// Returns the number of binary variables.
std::int64_t strategy_mip_binaries(const StageCosts& costs, StrategyMipForm form);

// The folded form requires equal layers.
StrategyMip build_strategy_mip(const StageCosts& costs, StrategyMipForm form);

// Returns the stages of a solution. Its binaries only need to be near 0 and 1.
std::vector<StagePlan> decode(const StrategyMip& mip, const std::vector<double>& values);

}  // namespace stowage
