// The manual page, made of what the commands say of themselves in their help.
//
//   std::cout << manual_page(command_manuals());      // man(7) macros, as man and mandoc read them
#pragma once

#include <string>
#include <vector>

#include "cli/flags/command.h"

namespace stowage {

std::string manual_page(const std::vector<CommandManual>& commands);

}  // namespace stowage
