// What `stowage run` says to people about an execution, and its exit code.
#pragma once

#include <optional>

#include "cli/terminal/console.h"
#include "cli/terminal/exit_codes.h"
#include "kernels/run/executor.h"

namespace stowage {

// ok, refused when something was computed wrongly, unknown when the budget ended the run before.
ExitCode exit_code(const kernels::ExecutionReport& report);

// What the step took here; nothing unless the whole plan was executed.
std::optional<double> measured_ms(const kernels::ExecutionReport& report);

// Tables of batches and of errors, notes, problems and the verdict, on stderr.
void tell_execution(Console& console, const kernels::ExecutionReport& report);

}  // namespace stowage
