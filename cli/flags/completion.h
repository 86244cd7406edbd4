// Shell completions, made of what the commands declare: a new flag is completed without a further
// line of code.
//
//   std::cout << bash_completion(command_manuals());
#pragma once

#include <string>
#include <vector>

#include "cli/flags/command.h"

namespace stowage {

// Completes commands, flags, and values that are chosen from a list; everything else is a file.
std::string bash_completion(const std::vector<CommandManual>& commands);
std::string zsh_completion(const std::vector<CommandManual>& commands);

}  // namespace stowage
