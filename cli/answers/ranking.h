// What `stowage configure` says of the configurations that it planned steps in: stowage/ranking.
#pragma once

#include <cstdint>
#include <string>

#include "cli/answers/replanned.h"
#include "cli/terminal/exit_codes.h"
#include "cli/terminal/table.h"
#include "instances/strategy/instance.h"
#include "solvers/configure/configure.h"

namespace stowage {

// What takes a twentieth of the step or more, and memory that is nearly full: "memory, exchange";
// "compute" where it is none of these.
std::string binding_text(const RankedConfiguration& each);

// The best ten, with what binds in each, for people; with ep if one of them has ranks that share
// experts.
Table ranking_table(const ConfiguredRun& run);

// A stowage/ranking document; with "replanned" where the configuration replaces an old one.
std::string ranking_json(const StrategyInstance& instance, const ConfiguredRun& run,
                         std::int64_t steps, ExitCode code,
                         const ReplannedAnswer* replanned = nullptr);

}  // namespace stowage
