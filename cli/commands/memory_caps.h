// stowage memory, for assign: the row caps that the memory model gives each scheme.
#pragma once

#include <string>

#include "cli/terminal/console.h"
#include "instances/assign/instance.h"

namespace stowage {

// Derives the caps of the instance's schemes for a published model (instances/assign/memory.h),
// compares them with the instance's, tells and answers. `model` may be empty: then the one that the
// instance's name begins with. Returns the exit code: refused if a cap exceeds what memory holds,
// unknown if a scheme has a tp that was not published, usage if the model is none.
ExitCode memory_of_schemes(Console& console, const AssignInstance& instance,
                           const std::string& model);

}  // namespace stowage
