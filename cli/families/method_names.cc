#include "cli/families/method_names.h"

#include "solvers/solve.h"

namespace stowage {

std::vector<std::string> method_names(const Instance& instance) {
  std::vector<std::string> names;
  for (const Method& method : methods(instance)) names.emplace_back(method.name);
  return names;
}

}  // namespace stowage
