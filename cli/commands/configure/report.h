// The output of `stowage configure`: files, a ranking, and lines for people.
#pragma once

#include <cstdint>
#include <string>

#include "cli/answers/replanned.h"
#include "cli/terminal/console.h"
#include "cli/terminal/error/exit_codes.h"
#include "instances/strategy/instance.h"
#include "solvers/configure/configure.h"

namespace stowage {

struct ConfiguredReport {
  const StrategyInstance& instance;
  const ConfiguredRun& run;
  std::int64_t steps = 0;
  const std::string& output;  // path of the directory
  // the old configuration that the first one replaces, or null
  const ReplannedAnswer* replanned = nullptr;
};

// Writes the directory and the answer. If no configuration has a plan for every step, prints the
// reasons and writes no files.
ExitCode report_configured(Console& console, const ConfiguredReport& report);

}  // namespace stowage
