#include "python/binding/solve_options.h"

#include <nanobind/nanobind.h>

#include <string>

#include "solvers/milp/backends.h"

namespace stowage::python {

SolveOptions options_of(const SolveArguments& arguments) {
  SolveOptions options{.method = arguments.method,
                       .gap = arguments.gap,
                       .seed = arguments.seed,
                       .without = arguments.without,
                       .params = parameter_values(arguments.params)};
  if (arguments.solver == "auto") return options;
  std::string known = "auto";
  for (const MilpBackend backend : built_backends()) {
    if (arguments.solver == name(backend)) options.backend = backend;
    known += ", " + std::string(name(backend));
  }
  if (!options.backend) {
    throw nanobind::value_error(
        ("solver: must be one of " + known + ", is " + arguments.solver).c_str());
  }
  return options;
}

std::vector<ParameterValue> parameter_values(const std::map<std::string, double>& params) {
  std::vector<ParameterValue> values;
  for (const auto& [name, value] : params) values.push_back({name, value});
  return values;
}

Budget::Limits limits_of(const SolveArguments& arguments, const Interrupt& interrupt) {
  Budget::Limits limits{.interrupt = &interrupt.flag};
  if (arguments.time_limit_s) limits.time_limit_s = *arguments.time_limit_s;
  if (arguments.node_limit) limits.node_limit = *arguments.node_limit;
  return limits;
}

}  // namespace stowage::python
