// The answer of `stowage explain`.
#pragma once

#include <string>
#include <vector>

#include "cli/terminal/exit_codes.h"
#include "instances/families.h"
#include "solvers/explain/explanation.h"

namespace stowage {

// With `violations` the plan is invalid, and has no gap. A stowage/explanation document; its keys
// are in cli/README.md.
std::string explanation_json(const Instance& instance, const Explanation& explanation,
                             const std::vector<Violation>& violations, ExitCode code);

}  // namespace stowage
