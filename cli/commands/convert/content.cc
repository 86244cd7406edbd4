#include "cli/commands/convert/content.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "cli/terminal/error/error_codes.h"
#include "instances/json/errors.h"
#include "instances/json/reader.h"
#include "instances/json/text.h"
#include "instances/json/value.h"
#include "instances/layout/json/csv.h"
#include "instances/lengths/length_file.h"
#include "instances/trainer/step.h"

namespace stowage {
namespace {

// Returns the format that the document states, for instance "stowage/trainer", even if later parts
// of the document are invalid.
std::optional<std::string> format_of(std::string_view text) {
  ErrorList errors;
  const std::optional<JsonValue> document = parse_json_head(text, {"format"}, errors);
  const JsonValue* format = document ? document->find("format") : nullptr;
  if (format == nullptr || format->string() == nullptr) return std::nullopt;
  return *format->string();
}

bool has_lengths(std::string_view text) {
  ErrorList errors;
  const std::optional<JsonValue> document = parse_json_head(text, {"lengths"}, errors);
  return document && document->find("lengths") != nullptr;
}

Result<ConvertContent> json_content(std::string_view text) {
  if (is_json_lines(text)) return ConvertContent::lengths;
  const std::optional<std::string> format = format_of(text);
  if (!format && has_lengths(text)) return ConvertContent::lengths;
  if (!format) {
    return InputError{
        kUsage, "IN",
        "must be lengths ([...], {\"lengths\": [...]} or JSON lines with --column), or "
        "say its format, is other JSON"};
  }
  if (*format == "stowage/trainer") return ConvertContent::trainer;
  if (*format == "stowage/instance") return plan_needed();
  if (*format == "stowage/plan" || *format == "stowage/outcome") {
    return InputError{kUsage, "IN",
                      "must be the instance, with its plan behind --plan, is a " + *format};
  }
  return InputError{
      kUsage, "IN",
      "must be lengths, one a line, or a stowage/trainer, is of format " + in_quotes(*format)};
}

}  // namespace

Result<ConvertContent> convert_content(std::string_view bytes, const std::string& path,
                                       bool column) {
  if (is_trainer_binary(bytes)) return ConvertContent::trainer;
  const std::size_t begin = bytes.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos || bytes[begin] == '[') return ConvertContent::lengths;
  if (column && format_of(bytes) != "stowage/trainer") return ConvertContent::lengths;
  if (bytes[begin] == '{') return json_content(bytes);
  if (!path.ends_with(".csv") && names_buffers(bytes)) {
    return InputError{kUsage, "IN",
                      "must be a file whose name ends in .csv if it is a table of buffers, is " +
                          (path == "-" ? "stdin" : in_quotes(path))};
  }
  return ConvertContent::lengths;
}

InputError plan_needed() {
  return {kUsage, "--plan",
          "is needed to make a trainer's file of an instance; a layout becomes a table if OUT ends "
          "in .csv"};
}

}  // namespace stowage
