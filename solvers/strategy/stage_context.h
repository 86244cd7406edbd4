// The context that the stages of one strategy solve share. Not installed.
#pragma once

#include <optional>

#include "instances/strategy/certificate.h"
#include "instances/strategy/instance.h"
#include "instances/strategy/planning_table.h"
#include "solvers/family_solve.h"
#include "solvers/stage.h"
#include "solvers/strategy/params.h"

namespace stowage {

struct StrategyContext : SolveContext<StrategyInstance> {
  const StrategyTable table;
  const StrategyParams params;
  std::optional<Refutation>& refuted;  // set by a stage that proves that no plan exists

  std::optional<StrategyCertificate> certificate = {};  // certificate of the best bound by prices

  // Returns true if the solve stops before the next stage.
  bool done() const {
    return budget.exhausted() || incumbent.proven() || incumbent.within(options.gap);
  }
};

}  // namespace stowage
