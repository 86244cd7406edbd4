// The files that `stowage configure` writes: listed in docs/reference/commands.md.
#pragma once

#include <string>
#include <vector>

#include "cli/terminal/new_directory.h"
#include "instances/strategy/instance.h"
#include "solvers/configure/configure.h"

namespace stowage {

// `ranking` is the text of its document. Requires a first configuration with plans for all steps.
// Without figures of a clock: the same run makes the same files.
std::vector<NamedFile> configured_files(const StrategyInstance& instance, const ConfiguredRun& run,
                                        const std::string& ranking);

}  // namespace stowage
