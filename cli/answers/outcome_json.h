// The answers of the command as JSON text: stowage/outcome.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/terminal/cli_error.h"
#include "cli/terminal/exit_codes.h"
#include "cli/terminal/unit.h"
#include "instances/families.h"
#include "instances/json/writer.h"
#include "solvers/memory/arrangement.h"
#include "solvers/outcome.h"
#include "solvers/solve.h"

namespace stowage {

// What the outcome says beside what solve() found.
struct OutcomeFrame {
  const Instance* instance = nullptr;  // required
  std::string solver;                  // name of the MILP backend, empty for none
  std::uint64_t seed = 0;
  bool timeless = false;  // leaves out "seconds" everywhere
  ExitCode exit_code = ExitCode::ok;
  std::vector<CliError> errors;              // of writing the plan; usually empty
  const Arrangement* arrangement = nullptr;  // of an order whose layout was asked for
  bool stages = false;                       // lists what each stage took and gained
  std::vector<std::string> without = {};     // the stages that were left out
  std::vector<ParameterValue> params = {};   // the parameters that differ from their defaults
};

// A stowage/outcome document. The plan is inside it, null if there is none.
std::string outcome_json(const Outcome& outcome, const OutcomeFrame& frame);

// The exit code of an outcome.
ExitCode exit_code(const Outcome& outcome);

// An entry of a list, as all documents of this folder write it.
inline constexpr auto kOneLine = JsonWriter::Layout::line;

// Keys that documents of this folder share: "bounds" and "violations" with their arrays.
void write_bounds(JsonWriter& json, const std::vector<NamedBound>& bounds, const Unit& unit);
void write_violations(JsonWriter& json, const std::vector<Violation>& violations);

}  // namespace stowage
