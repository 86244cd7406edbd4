// The command: run_command_line().
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#include "cli/commands/command_line.h"
#include "python/binding/boxes.h"

namespace stowage::python {
namespace {

int run_command(const std::vector<nb::bytes>& arguments) {
  std::vector<std::string> words;
  words.reserve(arguments.size());
  for (const nb::bytes& word : arguments) words.emplace_back(word.c_str(), word.size());
  const nb::gil_scoped_release unlocked;
  return run_command_line(words);
}

}  // namespace

void bind_command(nb::module_& module) {
  module.def("run_command", &run_command,
             nb::sig("def run_command(arguments: list[bytes]) -> int"));
}

}  // namespace stowage::python
