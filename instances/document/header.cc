#include "instances/document/header.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "instances/families.h"
#include "instances/json/errors.h"
#include "instances/json/reader.h"
#include "instances/json/text.h"
#include "instances/json/value.h"

namespace stowage {
namespace {

constexpr std::array<std::string_view, 3> kFormats = {"stowage/instance", "stowage/plan",
                                                      "stowage/outcome"};

// Returns the member if it is one of `known`; otherwise adds an error that lists `known`.
template <class Known>
std::string one_of(const ObjectReader& document, std::string_view key, const Known& known,
                   const char* error_code) {
  const JsonValue* member = document.require(key);
  if (member == nullptr) return "";
  if (const std::string* text = member->string()) {
    if (std::find(known.begin(), known.end(), *text) != known.end()) return *text;
  }
  std::string list;
  for (const std::string_view word : known) {
    if (!list.empty()) list += ", ";
    list += word;
  }
  std::string hint;
  if (member->string() != nullptr) {
    hint = did_you_mean(*member->string(), {known.begin(), known.end()});
  }
  document.errors().add(error_code, document.at(key).pointer(),
                        "must be one of " + list + ", is " + describe(*member) + hint);
  return "";
}

}  // namespace

Result<Head> read_head(std::string_view text) {
  ErrorList errors;
  const std::optional<JsonValue> document =
      parse_json_head(text, {"format", "version", "problem", "name"}, errors);
  Head head;
  if (document) {
    const JsonPath root;
    const ObjectReader reader(*document, root, errors, {"format", "version", "problem", "name"});
    if (document->object() != nullptr) {
      head.format = one_of(reader, "format", kFormats, code::kFormat);
      if (const JsonValue* version = reader.require("version")) {
        if (version->integer() != nullptr && *version->integer() == 1) {
          head.version = 1;
        } else {
          errors.add(code::kVersion, "/version", "must be 1, is " + describe(*version));
        }
      }
      head.problem = one_of(reader, "problem", Families::names, code::kProblem);
      head.name = reader.text("name", "");
    }
  }
  if (!errors.empty()) return std::move(errors).take();
  return head;
}

}  // namespace stowage
