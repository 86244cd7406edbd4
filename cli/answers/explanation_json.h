// The answer of `stowage explain`.
#pragma once

#include <string>

#include "cli/terminal/exit_codes.h"
#include "instances/families.h"
#include "solvers/explain/explanation.h"

namespace stowage {

// A stowage/explanation document; its keys are in cli/README.md.
std::string explanation_json(const Instance& instance, const Explanation& explanation,
                             ExitCode code);

}  // namespace stowage
