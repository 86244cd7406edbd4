// How `stowage configure` ends: files, a ranking, and lines for people.
#pragma once

#include <cstdint>
#include <string>

#include "cli/answers/replanned.h"
#include "cli/terminal/console.h"
#include "cli/terminal/exit_codes.h"
#include "instances/strategy/instance.h"
#include "solvers/configure/configure.h"

namespace stowage {

struct ConfiguredReport {
  const StrategyInstance& instance;
  const ConfiguredRun& run;
  std::int64_t steps = 0;
  const std::string& output;                   // the directory
  const ReplannedAnswer* replanned = nullptr;  // what the first configuration replaces
};

// Writes the directory and answers; where no configuration has a plan for every step, says why, and
// writes nothing.
ExitCode report_configured(Console& console, const ConfiguredReport& report);

}  // namespace stowage
