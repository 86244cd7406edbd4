// stowage fit --strategy: rates of a strategy instance from logged steps of training.
#pragma once

#include <string>

#include "cli/terminal/console.h"

namespace stowage {

struct StrategyFitRequest {
  std::string runs;      // table or log
  std::string instance;  // what the runs do not state, and the rates to begin with
  std::string stated;    // keys and values of all runs
  std::string output;    // the instance with fitted rates; empty: not written
};

ExitCode fit_strategy_runs(Console& console, const StrategyFitRequest& request);

}  // namespace stowage
