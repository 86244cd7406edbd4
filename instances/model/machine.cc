#include "instances/model/machine.h"

#include <string>

#include "instances/json/errors.h"
#include "instances/json/reader.h"
#include "instances/json/text.h"

namespace stowage {

std::vector<std::string_view> machine_names() {
  std::vector<std::string_view> names;
  for (const Machine& machine : kMachines) names.push_back(machine.name);
  return names;
}

InputError unknown_machine(std::string_view name) {
  std::string list;
  for (const Machine& machine : kMachines) {
    list += (list.empty() ? "" : ", ") + std::string(machine.name);
  }
  return {
      code::kPreset, "/machine",
      "must be one of " + list + ", is " + in_quotes(name) + did_you_mean(name, machine_names())};
}

}  // namespace stowage
