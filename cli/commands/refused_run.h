// stowage run of what is invalid: nothing is executed.
#pragma once

#include <string>
#include <vector>

#include "cli/terminal/console.h"
#include "cli/terminal/exit_codes.h"
#include "instances/instance.h"
#include "instances/violation.h"

namespace stowage {

// Tells and answers that `what`, the plan, or the layout of an order, is invalid.
ExitCode refuse_run(Console& console, const Instance& instance, const std::string& what,
                    const std::vector<Violation>& violations);

}  // namespace stowage
