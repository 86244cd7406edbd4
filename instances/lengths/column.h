// Named columns of lengths: of tables with a header, and of JSON lines.
#pragma once

#include <string_view>

#include "instances/json/value.h"
#include "instances/lengths/entries.h"

namespace stowage {

// Returns the character that separates the fields of a table with this header: a comma, semicolon
// or tab outside quotation marks, whichever comes first; '\0' if there is none.
char separator_of(std::string_view header);

// Reads the column of a table. Fields follow RFC 4180: a field in quotation marks may hold
// separators and line ends, and "" for a quotation mark. Without a column the error lists them.
Result<LengthFile> read_table_lengths(std::string_view text, std::string_view file,
                                      const LengthChoice& choice);

// Reads the column of JSON lines: one object a line, blank lines only at the end.
Result<LengthFile> read_json_lines(std::string_view text, std::string_view file,
                                   const LengthChoice& choice);

// Returns the member that `column` names: a key, or keys of nested objects joined by dots. Returns
// null if there is none.
const JsonValue* find_column(const JsonValue& object, std::string_view column);

// Returns the integer that a value holds, 4808.0 included.
std::optional<Tokens> whole_number(const JsonValue& value);

// Returns E404: `column` is none of `known`, or empty where one is needed.
InputError wrong_column(std::string_view file, std::string_view column,
                        const std::vector<std::string>& known);

// Returns the keys of an object, and those of its objects joined by dots: "usage.prompt_tokens".
std::vector<std::string> columns_of(const JsonValue& object);

}  // namespace stowage
