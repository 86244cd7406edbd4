// The answer where errors kept any other away: a stowage/outcome with status "error".
#pragma once

#include <string>
#include <vector>

#include "cli/terminal/cli_error.h"
#include "cli/terminal/exit_codes.h"
#include "instances/json/writer.h"

namespace stowage {

// The whole document.
std::string error_json(const std::vector<CliError>& errors, ExitCode code);

// The member "errors" of any answer.
void write_errors(JsonWriter& json, const std::vector<CliError>& errors);

}  // namespace stowage
