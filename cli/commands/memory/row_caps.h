// stowage memory, for assign: the row caps of each scheme by the memory model.
#pragma once

#include <string>

#include "cli/terminal/console.h"
#include "instances/assign/instance.h"

namespace stowage {

// Derives the caps of the instance's schemes for a published model (instances/assign/memory.h),
// compares them with the instance's caps, and writes tables and the answer. An empty `model`
// selects the model whose name is a prefix of the instance's name. Returns the exit code: refused
// if a cap exceeds the memory, unknown if a scheme has a tp that was not published, usage if no
// such model exists.
ExitCode memory_of_schemes(Console& console, const AssignInstance& instance,
                           const std::string& model);

}  // namespace stowage
