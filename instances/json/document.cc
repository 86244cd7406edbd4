#include "instances/json/document.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <optional>
#include <system_error>

#include "instances/json/errors.h"
#include "instances/json/reader.h"
#include "instances/json/text.h"
#include "instances/json/value.h"

namespace stowage {
namespace {

constexpr std::array<std::string_view, 3> kFormats = {"stowage/instance", "stowage/plan",
                                                      "stowage/outcome"};
constexpr std::array<std::string_view, 3> kProblems = {"scatter", "assign", "layout"};

// The member as one of `known`; an error that lists them otherwise.
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
      head.problem = one_of(reader, "problem", kProblems, code::kProblem);
      head.name = reader.text("name", "");
    }
  }
  if (!errors.empty()) return std::move(errors).take();
  return head;
}

Result<std::string> read_text_file(const std::filesystem::path& path) {
  std::error_code failure;
  const std::filesystem::file_status status = std::filesystem::status(path, failure);
  if (!std::filesystem::exists(status)) return unreadable(path.string(), "missing");
  if (!std::filesystem::is_regular_file(status)) {
    return unreadable(path.string(), "a directory or a device");
  }
  const std::uintmax_t size = std::filesystem::file_size(path, failure);
  if (!failure && size > kMaxDocumentBytes) return too_many_bytes(path.string(), kMaxDocumentBytes);
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return unreadable(path.string(), "closed to this user");
  return read_text_stream(stream, path.string());
}

Result<std::string> read_text_stream(std::istream& stream, std::string_view name,
                                     std::size_t most_bytes) {
  std::string text;
  std::array<char, 65536> buffer;
  while (stream.read(buffer.data(), buffer.size()) || stream.gcount() > 0) {
    const auto got = static_cast<std::size_t>(stream.gcount());
    if (text.size() + got > most_bytes) return too_many_bytes(name, most_bytes);
    text.append(buffer.data(), got);
  }
  if (stream.bad()) return unreadable(name, "cut short by a read error");
  return text;
}

}  // namespace stowage
