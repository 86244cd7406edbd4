// Creates the files of `stowage configure`, which docs/reference/commands.md lists.
#pragma once

#include <string>
#include <vector>

#include "cli/terminal/new_directory.h"
#include "instances/strategy/instance.h"
#include "solvers/configure/configure.h"

namespace stowage {

// `ranking` is the text of its document. Requires a first configuration with plans for all steps.
// The files contain no measured times, so equal runs give equal files.
std::vector<NamedFile> configured_files(const StrategyInstance& instance, const ConfiguredRun& run,
                                        const std::string& ranking);

}  // namespace stowage
