// The JSON answer of `stowage explain`.
#pragma once

#include <string>
#include <vector>

#include "cli/terminal/error/exit_codes.h"
#include "instances/families.h"
#include "solvers/explain/explanation.h"

namespace stowage {

// Returns a stowage/explanation document; its keys are in docs/reference/answers.md. If
// `violations` is not empty, the plan is invalid and has no gap.
std::string explanation_json(const Instance& instance, const Explanation& explanation,
                             const std::vector<Violation>& violations, ExitCode code);

}  // namespace stowage
