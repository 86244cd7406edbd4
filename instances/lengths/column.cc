#include "instances/lengths/column.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "instances/json/reader.h"
#include "instances/lengths/entries.h"

namespace stowage {
namespace {

constexpr std::size_t kMaxShownColumns = 20;

std::string place_of(std::string_view file, std::int64_t line) {
  return std::string(file) + ':' + std::to_string(line);
}

std::string_view without_outer_spaces(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// Takes the rows of a table apart, one after another.
class TableRows {
 public:
  TableRows(std::string_view text, char separator) : rest_(text), separator_(separator) {}

  bool done() const { return rest_.find_first_not_of(" \t\r\n") == std::string_view::npos; }
  std::int64_t line() const { return line_; }  // the row's first line, from 1

  // Calls take(index, field) for each field of the next row. Returns the number of fields, or
  // nullopt if a quotation mark is never closed.
  template <class Take>
  std::optional<std::size_t> next(Take take) {
    line_ = next_line_;
    std::size_t fields = 0;
    for (;;) {
      bool more = false;
      if (!rest_.empty() && rest_.front() == '"') {
        std::string field;
        if (!take_quoted(field)) return std::nullopt;
        more = take_separator();
        take(fields, std::string_view(field));
      } else {
        const std::size_t end = std::min(rest_.find(separator_), rest_.find('\n'));
        const std::string_view field = rest_.substr(0, end);
        rest_.remove_prefix(std::min(end, rest_.size()));
        more = take_separator();
        take(fields, without_outer_spaces(field));
      }
      ++fields;
      if (!more) return fields;
    }
  }

 private:
  // Takes a field in quotation marks, up to the separator or line end behind it.
  bool take_quoted(std::string& field) {
    rest_.remove_prefix(1);
    for (;;) {
      const std::size_t end = rest_.find('"');
      if (end == std::string_view::npos) return false;
      next_line_ += std::ranges::count(rest_.substr(0, end), '\n');
      field += rest_.substr(0, end);
      rest_.remove_prefix(end + 1);
      if (rest_.empty() || rest_.front() != '"') break;
      field += '"';
      rest_.remove_prefix(1);
    }
    const std::size_t end = std::min(rest_.find(separator_), rest_.find('\n'));
    field += without_outer_spaces(rest_.substr(0, end));
    rest_.remove_prefix(std::min(end, rest_.size()));
    return true;
  }

  // Takes the separator or line end that `rest_` begins with. Returns true for a separator.
  bool take_separator() {
    if (rest_.empty()) return false;
    const bool separator = rest_.front() == separator_;
    if (!separator) ++next_line_;
    rest_.remove_prefix(1);
    return separator;
  }

  std::string_view rest_;
  char separator_;
  std::int64_t line_ = 0;
  std::int64_t next_line_ = 1;
};

InputError open_quotation(std::string_view file, std::int64_t line) {
  return {code::kCsvRow, place_of(file, line),
          "must close its quotation marks, is open to the end of the file"};
}

// An error of a line as JSON, at its line of the file.
InputError in_line(const InputError& error, std::string_view file, std::int64_t line) {
  return {error.code, place_of(file, line),
          error.message + (error.pointer.empty() ? "" : " (" + error.pointer + " of the line)")};
}

}  // namespace

char separator_of(std::string_view header) {
  bool quoted = false;
  for (const char c : header) {
    if (c == '"') quoted = !quoted;
    if (!quoted && (c == ',' || c == ';' || c == '\t')) return c;
  }
  return '\0';
}

InputError wrong_column(std::string_view file, std::string_view column,
                        const std::vector<std::string>& known) {
  std::string list;
  for (std::size_t i = 0; i < known.size() && i < kMaxShownColumns; ++i) {
    list += (i == 0 ? "" : ", ") + in_quotes(known[i]);
  }
  if (known.size() > kMaxShownColumns) list += ", ...";
  if (column.empty()) {
    return {code::kLengthColumn, std::string(file),
            "must be read with a column of lengths (--column NAME), has " +
                (list.empty() ? "none" : list)};
  }
  const std::vector<std::string_view> names(known.begin(), known.end());
  return {code::kLengthColumn, std::string(file),
          "must have the column " + in_quotes(column) + ", has " + (list.empty() ? "none" : list) +
              did_you_mean(column, names)};
}

Result<LengthFile> read_table_lengths(std::string_view text, std::string_view file,
                                      const LengthChoice& choice) {
  const char separator = separator_of(text.substr(0, text.find('\n')));
  TableRows rows(text, separator == '\0' ? ',' : separator);
  std::vector<std::string> names;
  if (!rows.next([&](std::size_t, std::string_view field) { names.emplace_back(field); })) {
    return open_quotation(file, rows.line());
  }
  const auto found = std::ranges::find(names, choice.column);
  if (choice.column.empty() || found == names.end()) {
    return wrong_column(file, choice.column, names);
  }
  if (std::find(found + 1, names.end(), choice.column) != names.end()) {
    return InputError{code::kCsvHeader, place_of(file, 1),
                      "must name each column once, is " + in_quotes(choice.column) + " again"};
  }
  const auto column = static_cast<std::size_t>(found - names.begin());
  LengthEntries entries(file, choice.selection);
  while (entries.wanted() && !entries.over() && !rows.done()) {
    std::string value;
    const auto fields = rows.next([&](std::size_t index, std::string_view field) {
      if (index == column) value = field;
    });
    if (!fields) {
      entries.errors.append({open_quotation(file, rows.line())});
      break;
    }
    if (!entries.selected()) {
      entries.skip();
    } else if (*fields != names.size()) {
      entries.skip();
      entries.errors.add(code::kCsvRow, place_of(file, rows.line()),
                         "must have " + std::to_string(names.size()) +
                             " fields as the header, has " + std::to_string(*fields));
    } else {
      entries.add(
          whole_number(value), [&] { return place_of(file, rows.line()); },
          [&] { return in_quotes(value); });
    }
  }
  Result<std::vector<Tokens>> lengths = std::move(entries).take();
  if (!lengths) return lengths.errors();
  return LengthFile{*std::move(lengths), ""};
}

const JsonValue* find_column(const JsonValue& object, std::string_view column) {
  if (const JsonValue* member = object.find(column)) return member;
  for (std::size_t dot = column.find('.'); dot != std::string_view::npos;
       dot = column.find('.', dot + 1)) {
    const JsonValue* inner = object.find(column.substr(0, dot));
    if (inner == nullptr) continue;
    if (const JsonValue* member = find_column(*inner, column.substr(dot + 1))) return member;
  }
  return nullptr;
}

std::optional<Tokens> whole_number(const JsonValue& value) {
  if (const std::int64_t* integer = value.integer()) return *integer;
  const double* fraction = value.fraction();
  if (fraction == nullptr || value.beyond_integers() != nullptr) return std::nullopt;
  const bool whole = std::floor(*fraction) == *fraction && std::abs(*fraction) <= kMaxExact;
  return whole ? std::optional(static_cast<Tokens>(*fraction)) : std::nullopt;
}

std::vector<std::string> columns_of(const JsonValue& object) {
  std::vector<std::string> columns;
  if (object.object() == nullptr) return columns;
  for (const JsonMember& member : *object.object()) {
    if (member.value.object() == nullptr) {
      columns.push_back(member.key);
      continue;
    }
    for (const std::string& inner : columns_of(member.value)) {
      columns.push_back(member.key + '.' + inner);
    }
  }
  return columns;
}

Result<LengthFile> read_json_lines(std::string_view text, std::string_view file,
                                   const LengthChoice& choice) {
  LengthEntries entries(file, choice.selection);
  std::int64_t line_number = 0;
  bool first = true;
  while (entries.wanted() && !entries.over() &&
         text.find_first_not_of(" \t\r\n") != std::string_view::npos) {
    const std::size_t newline = text.find('\n');
    const std::string_view line = text.substr(0, newline);
    text.remove_prefix(newline == std::string_view::npos ? text.size() : newline + 1);
    ++line_number;
    if (!entries.selected() && !first) {
      entries.skip();
      continue;
    }
    ErrorList errors;
    const std::optional<JsonValue> object = parse_json(line, errors);
    if (!object || !errors.empty()) {
      entries.skip();
      entries.errors.append({in_line(std::move(errors).take().front(), file, line_number)});
      first = false;
      continue;
    }
    const JsonValue* value = choice.column.empty() ? nullptr : find_column(*object, choice.column);
    if (first && value == nullptr) return wrong_column(file, choice.column, columns_of(*object));
    first = false;
    if (!entries.selected()) {
      entries.skip();
    } else if (value == nullptr) {
      entries.skip();
      entries.errors.add(code::kMissingKey, place_of(file, line_number),
                         "must have the key " + in_quotes(choice.column) + ", is without it");
    } else {
      entries.add(
          whole_number(*value), [&] { return place_of(file, line_number); },
          [&] { return describe(*value); });
    }
  }
  Result<std::vector<Tokens>> lengths = std::move(entries).take();
  if (!lengths) return lengths.errors();
  return LengthFile{*std::move(lengths), ""};
}

}  // namespace stowage
