// UniAP's mixed-integer programme (arXiv 2307.16375) of one class without chunks and one layout.
// The stage of each layer and the stage's choice (recomputation and sharding) are separate
// variables, and their product is linearised. It is a baseline for formulations/strategy/mip.h,
// whose paths need no products.
//
//   const UniapMip mip = build_uniap(costs);
//   const std::vector<StagePlan> stages = decode(mip, values);
//
// UniAP chooses for each layer. A plan of this format has one choice per stage and one layout, so
// the choice is the stage's and no tensor is resharded. Times and memory of layers are added, as in
// UniAP: the communication that ZeRO level 3 hides is counted layer by layer, and working space is
// the largest that a stage may need. The objective contains no exchange of states. Rows UA1 to UA7
// are in docs/theory/strategy.md. Times are in ms, memory in MiB.
//
// Thread safety: the functions only read their arguments.
#pragma once

#include <cstdint>
#include <vector>

#include "formulations/milp/model.h"
#include "instances/strategy/cost/stage_costs.h"
#include "instances/strategy/plan_builder.h"

namespace stowage {

struct UniapMip {
  milp::Model model;
  std::vector<std::vector<int>> places;   // P_l_s: variable of layer and stage
  std::vector<std::vector<int>> choices;  // S_s_k: variable of stage and choice
  std::vector<StageChoice> its;           // the choices
};

// Returns the number of products P_l_s S_s_k of the model.
std::int64_t uniap_products(const StageCosts& costs);

// Requires a class without chunks.
UniapMip build_uniap(const StageCosts& costs);

// Returns the stages of a solution. Its binaries only need to be near 0 and 1.
std::vector<StagePlan> decode(const UniapMip& mip, const std::vector<double>& values);

}  // namespace stowage
