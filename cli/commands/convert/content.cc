#include "cli/commands/convert/content.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "cli/terminal/error/error_codes.h"
#include "instances/json/errors.h"
#include "instances/json/reader.h"
#include "instances/json/text.h"
#include "instances/json/value.h"
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

Result<ConvertContent> json_content(std::string_view text) {
  const std::optional<std::string> format = format_of(text);
  if (!format) {
    return InputError{kUsage, "IN",
                      "must be lengths, one a line without brackets and commas, or say its format, "
                      "is other JSON"};
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

// Returns whether the text begins with a header such as "id,lower,upper,size": a list of lengths
// has no letters.
bool begins_a_table(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  return line.find(',') != std::string_view::npos && std::ranges::any_of(line, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
         });
}

}  // namespace

Result<ConvertContent> convert_content(std::string_view bytes, const std::string& path) {
  if (is_trainer_binary(bytes)) return ConvertContent::trainer;
  const std::size_t begin = bytes.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return ConvertContent::lengths;
  if (bytes[begin] == '{' || bytes[begin] == '[') return json_content(bytes);
  if (begins_a_table(bytes)) {
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
