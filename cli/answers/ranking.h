// The answer of `stowage configure` about the configurations with planned steps: stowage/ranking.
#pragma once

#include <cstdint>
#include <string>

#include "cli/answers/replanned.h"
#include "cli/terminal/error/exit_codes.h"
#include "cli/terminal/table.h"
#include "instances/strategy/instance.h"
#include "solvers/configure/configure.h"

namespace stowage {

// Returns the bottlenecks: parts that take 5 % of the step or more, and memory that is nearly full,
// for instance "memory, exchange". Returns "compute" if there is no such part.
std::string binding_text(const RankedConfiguration& each);

// Returns a table for people: the best ten configurations and their bottlenecks. The table has a
// column ep if a configuration has expert parallelism.
Table ranking_table(const ConfiguredRun& run);

// Returns a stowage/ranking document, with "replanned" if the configuration replaces an old one.
std::string ranking_json(const StrategyInstance& instance, const ConfiguredRun& run,
                         std::int64_t steps, ExitCode code,
                         const ReplannedAnswer* replanned = nullptr);

}  // namespace stowage
