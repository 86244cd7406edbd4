// The JSON answer of a solve: stowage/outcome.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/terminal/error/cli_error.h"
#include "cli/terminal/error/exit_codes.h"
#include "cli/terminal/unit.h"
#include "instances/families.h"
#include "instances/json/writer.h"
#include "solvers/memory/arrangement.h"
#include "solvers/outcome.h"
#include "solvers/solve.h"

namespace stowage {

// The members of an outcome in addition to the result of solve().
struct OutcomeFrame {
  const Instance* instance = nullptr;  // required
  std::string solver;                  // name of the MILP backend, empty if none was used
  std::uint64_t seed = 0;
  bool timeless = false;  // if true, "seconds" is omitted everywhere
  ExitCode exit_code = ExitCode::ok;
  std::vector<CliError> errors;              // errors of writing the plan; usually empty
  const Arrangement* arrangement = nullptr;  // set if a layout of the order was requested
  bool stages = false;  // if true, the document lists the time and gain of each stage
  std::vector<std::string> without = {};    // names of the excluded stages
  std::vector<ParameterValue> params = {};  // the parameters that differ from their defaults
};

// Returns a stowage/outcome document. It contains the plan, or null if there is no plan.
std::string outcome_json(const Outcome& outcome, const OutcomeFrame& frame);

// Returns the exit code of an outcome.
ExitCode exit_code(const Outcome& outcome);

// The layout of list entries in all documents of this folder.
inline constexpr auto kOneLine = JsonWriter::Layout::line;

// Write members that documents of this folder share: "bounds" and "violations" with their arrays.
void write_bounds(JsonWriter& json, const std::vector<NamedBound>& bounds, const Unit& unit);
void write_violations(JsonWriter& json, const std::vector<Violation>& violations);

}  // namespace stowage
