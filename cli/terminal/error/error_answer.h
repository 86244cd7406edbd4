// The answer of a command that failed with errors: a stowage/outcome with status "error".
#pragma once

#include <string>
#include <vector>

#include "cli/terminal/error/cli_error.h"
#include "cli/terminal/error/exit_codes.h"
#include "instances/json/writer.h"

namespace stowage {

// Returns the whole document.
std::string error_json(const std::vector<CliError>& errors, ExitCode code);

// Writes the member "errors", which any answer may have.
void write_errors(JsonWriter& json, const std::vector<CliError>& errors);

}  // namespace stowage
