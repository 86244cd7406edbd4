// stowage run of an invalid plan: the plan is not executed.
#pragma once

#include <string>
#include <vector>

#include "cli/terminal/console.h"
#include "cli/terminal/error/exit_codes.h"
#include "instances/instance.h"
#include "instances/violation.h"

namespace stowage {

// Prints and answers that `what` is invalid: the plan, or the layout of an order.
ExitCode refuse_run(Console& console, const Instance& instance, const std::string& what,
                    const std::vector<Violation>& violations);

}  // namespace stowage
