#include "solvers/strategy/mip_solve.h"

#include <algorithm>
#include <cmath>

#include "formulations/strategy/mip.h"
#include "solvers/milp/recheck.h"

namespace stowage {

StrategyMipResult solve_strategy_mip(const StageCosts& costs, const StrategyMipSolve& options,
                                     Budget& budget) {
  const StrategyMipForm form =
      costs.table().equal_layers() ? StrategyMipForm::folded : StrategyMipForm::path;
  if (strategy_mip_binaries(costs, form) > options.most_binaries) {
    return {.detail = "too many ranges of layers for the MIP"};
  }
  const StrategyMip mip = build_strategy_mip(costs, form);
  if (mip.empty) return {.bound = kInfinity, .complete = true};
  const MilpResult solved = solve_milp(options.backend, mip.model,
                                       {.seed = options.seed, .cutoff = options.below}, budget);
  StrategyMipResult result{.detail = solved.detail};
  if (has_point(solved.status)) result.stages = decode(mip, solved.values);
  if (std::isfinite(solved.bound)) {
    result.bound = std::max(0.0, solved.bound * (1 - 2 * kObjectiveTolerance));
  }
  const bool nothing_below = solved.limit == StopReason::none && solved.bound >= options.below;
  const bool nothing = solved.status == MilpStatus::infeasible;
  if (nothing) result.bound = kInfinity;
  result.complete = nothing || nothing_below || solved.status == MilpStatus::optimal;
  if (result.complete) result.detail.clear();
  return result;
}

}  // namespace stowage
