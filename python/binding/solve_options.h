// Converts the solve arguments of a Python call to SolveOptions.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "instances/budget.h"
#include "python/binding/interrupt.h"
#include "solvers/solve.h"

namespace stowage::python {

struct SolveArguments {
  std::string method;
  std::string solver;  // MILP backend: "auto" or a name
  std::optional<double> time_limit_s;
  std::optional<std::int64_t> node_limit;
  double gap = 0;
  std::uint64_t seed = 0;
  std::map<std::string, double> params;  // values by name of parameter
  std::vector<std::string> without;      // names of stages
};

// Throws ValueError for a solver that is not built in.
SolveOptions options_of(const SolveArguments& arguments);

// Returns the values in the order of their names.
std::vector<ParameterValue> parameter_values(const std::map<std::string, double>& params);

Budget::Limits limits_of(const SolveArguments& arguments, const Interrupt& interrupt);

}  // namespace stowage::python
