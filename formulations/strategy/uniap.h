// UniAP's mixed-integer programme (arXiv 2307.16375) of one class without chunks and one layout: on
// which stage a layer is and what the stage recomputes and shards are chosen apart, and their
// product is linearised. A baseline beside formulations/strategy/mip.h, whose paths need no
// products.
//
//   const UniapMip mip = build_uniap(costs);
//   const std::vector<StagePlan> stages = decode(mip, values);
//
// UniAP chooses for each layer; a plan of this format has one choice for a stage and one layout, so
// the choice is the stage's and nothing is resharded. Times and memory of a layer are added up, as
// there: what level 3 hides is counted layer by layer, and working space is the largest that a
// stage may need. Its objective has no exchange of states. Rows UA1 to UA7 are those of
// formulations/README.md; times are in ms, memory is in MiB.
//
// Thread safety: its functions read their arguments and nothing else.
#pragma once

#include <cstdint>
#include <vector>

#include "formulations/milp/model.h"
#include "instances/strategy/compose.h"
#include "instances/strategy/table.h"

namespace stowage {

struct UniapMip {
  milp::Model model;
  std::vector<std::vector<int>> places;   // P_l_s: variable of layer and stage
  std::vector<std::vector<int>> choices;  // S_s_k: variable of stage and choice
  std::vector<StageChoice> its;           // the choices
};

// How many products P_l_s S_s_k the model has.
std::int64_t uniap_products(const StageCosts& costs);

// Requires a class without chunks.
UniapMip build_uniap(const StageCosts& costs);

// The stages of a point, whose binaries need only be near 0 and 1.
std::vector<StagePlan> decode(const UniapMip& mip, const std::vector<double>& values);

}  // namespace stowage
