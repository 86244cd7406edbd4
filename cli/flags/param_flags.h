// --set, --params and --without: changes to the search of a solve.
#pragma once

#include <string>
#include <vector>

#include "cli/flags/flags.h"
#include "cli/terminal/error/cli_error.h"
#include "instances/families.h"
#include "instances/result.h"
#include "solvers/solve.h"

namespace stowage {

class ParamFlags {
 public:
  void declare(Flags& flags);

  // Writes the values of the flags into `options`. Returns all errors: E001 at --set or --without,
  // and the errors of the file of --params.
  std::vector<CliError> apply(const Instance& instance, SolveOptions& options) const;

 private:
  std::vector<std::string> settings_;  // NAME=VALUE
  std::string file_;
  std::vector<std::string> without_;
};

}  // namespace stowage
