#include "cli/terminal/error/error_answer.h"

#include <string_view>

namespace stowage {

void write_errors(JsonWriter& json, const std::vector<CliError>& errors) {
  json.key("errors");
  json.begin_array();
  for (const CliError& e : errors) {
    json.begin_object(JsonWriter::Layout::line);
    json.text("code", e.error.code);
    if (!e.file.empty()) json.text("file", e.file);
    json.text("pointer", e.error.pointer);
    json.text("message", e.error.message);
    json.end_object();
  }
  json.end_array();
}

std::string error_json(const std::vector<CliError>& errors, ExitCode code) {
  JsonWriter json;
  json.begin_object();
  json.text("format", "stowage/outcome");
  json.integer("version", 1);
  json.text("problem", "");  // unknown, since the input could not be read
  json.text("status", "error");
  json.text("stopped_by", "error");
  json.integer("exit_code", to_int(code));
  for (const std::string_view key : {"objective_ms", "bound_ms", "gap", "plan"}) {
    json.key(key);
    json.null();
  }
  write_errors(json, errors);
  json.end_object();
  return json.take();
}

}  // namespace stowage
