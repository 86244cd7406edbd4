#include "instances/lengths/length_file.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "instances/json/reader.h"
#include "instances/lengths/binary.h"
#include "instances/lengths/column.h"
#include "instances/lengths/entries.h"

namespace stowage {
namespace {

constexpr std::string_view kByteOrderMarkUtf8 = "\xEF\xBB\xBF";

// Returns the text without the blank lines at its end.
std::string_view without_blank_end(std::string_view text) {
  const std::size_t last = text.find_last_not_of(" \t\r\n");
  if (last == std::string_view::npos) return {};
  const std::size_t newline = text.find('\n', last);
  return newline == std::string_view::npos ? text : text.substr(0, newline + 1);
}

std::string_view first_line(std::string_view text) {
  std::string_view line = text.substr(0, text.find('\n'));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

// Returns whether a line names what follows: it begins with a letter, a quotation mark, # or _, and
// is no number that a reader would expect.
bool is_header(std::string_view line) {
  if (line.empty()) return false;
  const char c = line.front();
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '"' || c == '#' || c == '_';
}

Result<LengthFile> read_plain_list(std::string_view text, std::string_view file,
                                   const LengthChoice& choice) {
  const std::string_view header = first_line(text);
  const bool named = is_header(header);
  LengthSelection selection = choice.selection;
  selection.line = named ? 2 : 1;
  const std::size_t newline = text.find('\n');
  if (named) text = newline == std::string_view::npos ? "" : text.substr(newline + 1);
  Result<std::vector<Tokens>> lengths = read_length_list(text, file, selection);
  if (!lengths) return lengths.errors();
  return LengthFile{
      *std::move(lengths),
      named ? "the first line, " + in_quotes(header) + ", is taken for a header" : ""};
}

// Adds the selected elements of an array to `entries`: integers, or with a column the objects'.
void add_elements(const JsonValue::Array& array, const JsonPath& path, const std::string& column,
                  Tokens least, LengthEntries& entries) {
  std::int64_t index = 0;
  for (const JsonValue& element : array) {
    const JsonPath place = path.index(index++);
    if (!entries.wanted()) return;
    if (!entries.selected()) {
      entries.skip();
      continue;
    }
    if (column.empty()) {
      entries.add_read(read_integer(element, place, {least, kMaxExact}, entries.errors));
      continue;
    }
    const JsonValue* value = find_column(element, column);
    if (value == nullptr) {
      entries.skip();
      entries.errors.add(code::kMissingKey, place.pointer(),
                         "must have the key " + in_quotes(column) + ", is without it");
      continue;
    }
    entries.add(
        whole_number(*value), [&] { return place.pointer(); }, [&] { return describe(*value); });
  }
}

Result<LengthFile> read_json_array(std::string_view text, std::string_view file,
                                   const LengthChoice& choice) {
  LengthEntries entries(file, choice.selection);
  const std::optional<JsonValue> document = parse_json(text, entries.errors);
  if (!document) return std::move(entries.errors).take();
  const JsonPath root;
  const JsonValue* list = &*document;
  const bool wrapped = document->object() != nullptr;
  if (wrapped) {
    if (!choice.column.empty()) {
      // One object alone: JSON lines of one line.
      return read_json_lines(text, file, choice);
    }
    const ObjectReader reader(*document, root, entries.errors, {"lengths"});
    list = reader.require("lengths");
    if (list == nullptr) return std::move(entries.errors).take();
  }
  const JsonPath key = root.key("lengths");
  const JsonPath& path = wrapped ? key : root;
  if (list->array() == nullptr) {
    add_wrong_type(*list, path, "an array of integers", entries.errors);
    return std::move(entries.errors).take();
  }
  const JsonValue::Array& array = *list->array();
  if (!array.empty() && array.front().object() != nullptr &&
      (choice.column.empty() || find_column(array.front(), choice.column) == nullptr)) {
    return wrong_column(file, choice.column, columns_of(array.front()));
  }
  if (!choice.column.empty() && (array.empty() || array.front().object() == nullptr)) {
    return wrong_column(file, choice.column, {});
  }
  add_elements(array, path, choice.column, choice.selection.least, entries);
  Result<std::vector<Tokens>> lengths = std::move(entries).take();
  if (!lengths) return lengths.errors();
  return LengthFile{*std::move(lengths), ""};
}

}  // namespace

bool is_binary_length_file(std::string_view bytes) {
  return bytes.starts_with(kNpyMagic) || bytes.starts_with(kMegatronMagic);
}

bool is_json_lines(std::string_view text) {
  const std::string_view line = first_line(text);
  if (!line.starts_with('{') || line.size() + 1 >= text.size()) return false;
  const std::size_t next = text.find_first_not_of(" \t\r\n", line.size());
  if (next == std::string_view::npos || text[next] != '{') return false;
  ErrorList errors;
  return parse_json(line, errors).has_value();
}

Result<LengthFile> read_any_lengths(std::string_view bytes, std::string_view file,
                                    const LengthChoice& choice) {
  if (is_binary_length_file(bytes)) {
    if (!choice.column.empty()) {
      return InputError{code::kLengthColumn, std::string(file),
                        "must be read without a column, has none to name"};
    }
    return bytes.starts_with(kNpyMagic) ? read_npy_lengths(bytes, file, choice.selection)
                                        : read_megatron_lengths(bytes, file, choice.selection);
  }
  if (const std::string_view foreign = foreign_format(bytes); !foreign.empty()) {
    return InputError{
        code::kLengthFormat, std::string(file),
        "must be UTF-8 text, .npy or an index of Megatron-LM, is " + std::string(foreign)};
  }
  const std::string_view marked = bytes;
  if (bytes.starts_with(kByteOrderMarkUtf8)) bytes.remove_prefix(kByteOrderMarkUtf8.size());
  const std::size_t begin = bytes.find_first_not_of(" \t\r\n");
  if (begin != std::string_view::npos && (bytes[begin] == '{' || bytes[begin] == '[')) {
    return is_json_lines(bytes.substr(begin)) ? read_json_lines(bytes, file, choice)
                                              : read_json_array(marked, file, choice);
  }
  const std::string_view text = without_blank_end(bytes);
  const std::string_view header = first_line(text);
  const bool table = !choice.column.empty() || (separator_of(header) != '\0' && is_header(header));
  return table ? read_table_lengths(text, file, choice) : read_plain_list(text, file, choice);
}

}  // namespace stowage
