// stowage fit --strategy: fits rates of a strategy instance to logged training steps.
#pragma once

#include <string>

#include "cli/terminal/console.h"

namespace stowage {

struct StrategyFitRequest {
  std::string runs;  // table or log
  // path of the instance with the values that the runs do not state, and the initial rates
  std::string instance;
  std::string stated;  // keys and values for all runs
  std::string output;  // path of the instance with the fitted rates; empty: not written
};

ExitCode fit_strategy_runs(Console& console, const StrategyFitRequest& request);

}  // namespace stowage
