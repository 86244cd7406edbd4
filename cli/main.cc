// The program stowage.
#include <string>
#include <vector>

#include "cli/commands/command_line.h"

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  return stowage::run_command_line(arguments);
}
