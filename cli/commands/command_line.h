// stowage: one command line with several commands. Finds the command and runs it.
#pragma once

#include <string>
#include <vector>

namespace stowage {

// Runs the command that the arguments name, without the name of the program. Returns the exit code.
// Call it once in a process, which should end then: stdout is redirected, signals of broken pipes
// are ignored, and if a backend still runs the process ends here.
int run_command_line(const std::vector<std::string>& arguments);

}  // namespace stowage
