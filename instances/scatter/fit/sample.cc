#include "instances/scatter/fit/sample.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "instances/json/limits.h"
#include "instances/json/reader.h"
#include "instances/json/text.h"
#include "instances/scatter/table/group_form.h"

namespace stowage {
namespace {

enum Column : std::size_t { kDegree, kLengths, kTime, kPeak, kExchange, kColumns, kIgnored };

struct ColumnName {
  std::string_view name;
  Column column;
};

constexpr std::array<ColumnName, 8> kNames = {{{"degree", kDegree},
                                               {"lengths_tokens", kLengths},
                                               {"time_ms", kTime},
                                               {"peak_mib", kPeak},
                                               {"exchange", kExchange},
                                               {"lengths", kLengths},
                                               {"ms", kTime},
                                               {"mib", kPeak}}};

constexpr std::size_t kMaxFields = 100;  // of a header; longer headers are refused

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  for (std::size_t at = 0; at <= line.size();) {
    const std::size_t end = std::min(line.find(',', at), line.size());
    fields.push_back(trimmed(line.substr(at, end - at)));
    at = end + 1;
  }
  return fields;
}

template <class Number>
std::optional<Number> parse(std::string_view text) {
  Number value{};
  const char* const last = text.data() + text.size();
  const auto [end, failure] = std::from_chars(text.data(), last, value);
  if (failure != std::errc() || end != last) return std::nullopt;
  return value;
}

class SamplesReader {
 public:
  SamplesReader(std::string_view text, std::string_view file) : rest_(text), file_(file) {}

  Result<std::vector<TimedRow>> read() && {
    if (rest_.substr(0, 3) == "\xEF\xBB\xBF") {
      errors_.add(code::kByteOrderMark, file_ + ":1",
                  "must not start with a byte order mark, is one");
    } else if (const auto bad = first_bad_byte(rest_)) {
      errors_.add(
          code::kEncoding, file_ + ':' + line_column(rest_, *bad),
          "must be UTF-8 text, is byte " + std::to_string(static_cast<unsigned char>(rest_[*bad])));
    } else if (read_header()) {
      read_rows();
    }
    if (!errors_.empty()) return std::move(errors_).take();
    return std::move(rows_);
  }

 private:
  std::string here() const { return file_ + ':' + std::to_string(line_); }

  std::string_view next_line() {
    const std::size_t newline = rest_.find('\n');
    std::string_view line = rest_.substr(0, newline);
    rest_.remove_prefix(newline == std::string_view::npos ? rest_.size() : newline + 1);
    ++line_;
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    return line;
  }

  bool read_header() {
    const std::vector<std::string_view> fields = fields_of(next_line());
    if (fields.size() > kMaxFields) {
      errors_.add(code::kCsvHeader, here(),
                  "must name at most " + std::to_string(kMaxFields) + " columns, is a line of " +
                      std::to_string(fields.size()) + " fields");
      return false;
    }
    std::array<bool, kColumns> seen{};
    for (const std::string_view name : fields) {
      const auto* const known = std::ranges::find(kNames, name, &ColumnName::name);
      if (known == kNames.end()) {
        columns_.push_back(kIgnored);
        if (name.starts_with("x-")) continue;
        std::vector<std::string_view> names;
        for (const ColumnName& each : kNames) names.push_back(each.name);
        errors_.add(code::kCsvHeader, here(),
                    "must name known columns, is " + in_quotes(name) + did_you_mean(name, names));
        continue;
      }
      columns_.push_back(known->column);
      if (seen[known->column]) {
        errors_.add(code::kCsvHeader, here(),
                    "must name each column once, is " + in_quotes(name) + " again");
      }
      seen[known->column] = true;
    }
    for (const Column column : {kDegree, kLengths, kTime}) {
      if (seen[column]) continue;
      errors_.add(code::kCsvHeader, here(),
                  "must name the column " + std::string(kNames[column].name) + ", is without it");
    }
    return errors_.empty();
  }

  void read_rows() {
    while (!rest_.empty()) {
      const std::string_view line = next_line();
      if (trimmed(line).empty() && rest_.find_first_not_of(" \t\r\n") == std::string_view::npos) {
        break;  // only empty lines follow
      }
      if (std::ssize(rows_) == kMaxSamples) {
        errors_.add(code::kTooManyValues, here(),
                    "must be at most " + std::to_string(kMaxSamples) + " samples, is more");
        return;
      }
      rows_.push_back(read_row(line));
    }
  }

  TimedRow read_row(std::string_view line) {
    TimedRow row;
    const std::vector<std::string_view> fields = fields_of(line);
    if (fields.size() != columns_.size()) {
      errors_.add(code::kCsvRow, here(),
                  "must have " + std::to_string(columns_.size()) + " fields, is a line of " +
                      std::to_string(fields.size()));
      return row;
    }
    for (std::size_t i = 0; i < fields.size(); ++i) read_field(columns_[i], fields[i], row);
    return row;
  }

  void read_field(Column column, std::string_view field, TimedRow& row) {
    switch (column) {
      case kDegree: {
        const auto degree = parse<std::int64_t>(field);
        if (degree && *degree >= 1 && *degree <= kMaxDevices) {
          row.degree = static_cast<int>(*degree);
        } else {
          complain(column, "an integer from 1 to " + std::to_string(kMaxDevices), field);
        }
        break;
      }
      case kLengths:
        read_lengths(field, row);
        break;
      case kTime:
        if (const auto ms = positive(column, field)) row.ms = *ms;
        break;
      case kPeak:
        if (!field.empty()) row.mib = positive(column, field);
        break;
      case kExchange: {
        if (field.empty()) break;
        const auto known = std::ranges::find(exchange_names(), field);
        if (known == exchange_names().end()) {
          complain(column, "none, all_to_all, ring, all_gather or two_level", field);
        } else {
          row.exchange = static_cast<ExchangeKind>(known - exchange_names().begin());
        }
        break;
      }
      case kColumns:
      case kIgnored:
        break;
    }
  }

  // Returns a time or a size: a number above 0, up to 2^53.
  std::optional<double> positive(Column column, std::string_view field) {
    const auto value = parse<double>(field);
    if (value && *value > 0 && *value <= static_cast<double>(kMaxExact)) return value;
    complain(column, "a number above 0, at most 2^53", field);
    return std::nullopt;
  }

  void read_lengths(std::string_view field, TimedRow& row) {
    Tokens sum = 0;
    for (std::size_t at = 0; at < field.size();) {
      const std::size_t end = std::min(field.find_first_of(" ;", at), field.size());
      const std::string_view part = field.substr(at, end - at);
      at = end + 1;
      if (part.empty()) continue;
      const auto length = parse<Tokens>(part);
      if (!length || *length < 1 || *length > kMaxExact - sum) {
        complain(kLengths, "lengths of at least 1 token between spaces or semicolons, at most 2^53",
                 part);
        return;
      }
      sum += *length;
      row.lengths.push_back(*length);
      if (++lengths_ > kMaxSequences) {
        complain(kLengths, "at most " + std::to_string(kMaxSequences) + " lengths in all lines",
                 part);
        rest_ = {};
        return;
      }
    }
    if (row.lengths.empty()) complain(kLengths, "at least one length", field);
  }

  void complain(Column column, const std::string& expected, std::string_view field) {
    if (!errors_.room()) {
      errors_.add_unseen();
      return;
    }
    errors_.add(code::kCsvField, here() + ':' + std::string(kNames[column].name),
                "must be " + expected + ", is " + in_quotes(field));
  }

  std::string_view rest_;
  const std::string file_;
  std::int64_t line_ = 0;
  std::int64_t lengths_ = 0;     // of all rows
  std::vector<Column> columns_;  // column of each field
  std::vector<TimedRow> rows_;
  ErrorList errors_;
};

}  // namespace

std::string sample_pointer(std::size_t row, std::string_view member) {
  return "/samples/" + std::to_string(row) + '/' + std::string(member);
}

Result<std::vector<TimedRow>> read_samples_csv(std::string_view text, std::string_view file) {
  return SamplesReader(text, file).read();
}

}  // namespace stowage
