// The parameters of a strategy solve. The search is exact, so there are few parameters. Not
// installed.
#pragma once

#include <cstdint>

#include "formulations/strategy/bounds.h"
#include "instances/parameters.h"

namespace stowage {

// Parameters of the MILP of one class and layout (mip_solve.h).
struct StrategyMipParams {
  std::int64_t binaries = 200'000;
};

struct StrategyParams {
  PriceRounds prices;
  StrategyMipParams mip;
};

template <class Visitor>
void fields(Visitor&& visit, StrategyParams& p) {
  visit({"prices.rounds", "rounds", 1, 100000,
         "More: classes of too many stages for thresholds get better prices.", kByHand},
        p.prices.rounds);
  visit({"prices.first_step", "exponent", 1e-3, 100,
         "More: the first rounds change the prices of uneven stages further.", kByHand},
        p.prices.first_step);
  visit({"mip.binaries", "variables", 0, 1e8,
         "More: method `mip` builds the MILPs of larger classes.", kByHand},
        p.mip.binaries);
}

}  // namespace stowage
