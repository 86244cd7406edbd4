// The rows of a comparison: one for each method, as a table and as JSON.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/terminal/error/exit_codes.h"
#include "cli/terminal/table.h"
#include "cli/terminal/unit.h"
#include "instances/json/writer.h"
#include "instances/proof.h"
#include "solvers/solve.h"

namespace stowage {

struct MethodRow {
  Method method;
  Outcome outcome;
  bool best = false;
  std::optional<double> measured_ms;  // critical path on this machine
  bool stated = false;                // true for the plan of --configuration, which no method made
};

// The words and options that all rows share.
struct MethodRowsFrame {
  Unit unit;
  std::string_view parts;  // plural word for the plan's parts, empty for plans without parts
  bool timeless = false;
  bool measured = false;
};

// Returns the best bound of all methods, which is valid for all of them.
NamedBound best_bound(const std::vector<MethodRow>& rows);

// Marks the rows whose objective is the best one, to 1e-9 relative.
void mark_best(std::vector<MethodRow>& rows);

// Returns the best exit code of all outcomes, so that one failing method does not make a comparison
// fail.
ExitCode exit_code_of(const std::vector<MethodRow>& rows);

Table table_of(const std::vector<MethodRow>& rows, const MethodRowsFrame& frame);
void write_row(JsonWriter& json, const MethodRow& row, const MethodRowsFrame& frame);

}  // namespace stowage
