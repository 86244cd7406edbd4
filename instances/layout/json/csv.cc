#include "instances/layout/json/csv.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "instances/json/errors.h"
#include "instances/json/limits.h"
#include "instances/json/reader.h"
#include "instances/json/text.h"
#include "instances/layout/json/csv_fields.h"
#include "instances/layout/load.h"
#include "instances/layout/validate.h"

namespace stowage {
namespace {

class CsvReader {
 public:
  CsvReader(std::string_view text, std::string_view file) : rest_(text), file_(file) {}

  // Returns the number of gaps in which the buffer needs some of its bytes.
  std::int64_t partial_gaps() const { return partial_gaps_; }

  Result<LayoutInstance> read() {
    if (rest_.substr(0, 3) == "\xEF\xBB\xBF") {
      add(code::kByteOrderMark, file_ + ":1", "must not start with a byte order mark, is one");
    } else if (const auto bad = first_bad_byte(rest_)) {
      add(code::kEncoding, file_ + ':' + line_column(rest_, *bad),
          "must be UTF-8 text, is byte " + std::to_string(static_cast<unsigned char>(rest_[*bad])));
    } else if (read_header()) {
      read_rows();
    }
    if (!errors_.empty()) return std::move(errors_).take();
    return std::move(instance_);
  }

 private:
  void add(const char* error_code, std::string pointer, std::string message) {
    errors_.add(error_code, std::move(pointer), std::move(message));
  }

  std::string here() const { return file_ + ':' + std::to_string(line_number_); }

  std::string_view next_line() {
    const std::size_t newline = rest_.find('\n');
    std::string_view line = rest_.substr(0, newline);
    rest_.remove_prefix(newline == std::string_view::npos ? rest_.size() : newline + 1);
    ++line_number_;
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    return line;
  }

  // Reads the column of each field. Returns false if a column is unknown, repeated or missing.
  bool read_header() {
    std::array<bool, csv::kColumns> seen{};
    const std::string_view line = next_line();
    if (csv::fields_in(line) > csv::kMaxFields) {
      add(code::kCsvHeader, here(),
          "must name at most " + std::to_string(csv::kColumns) + " columns, is a line of " +
              std::to_string(csv::fields_in(line)) + " fields");
      return false;
    }
    std::optional<std::string_view> left = line;
    for (std::string_view field; csv::take_part(left, ',', field);) {
      const std::string_view name = csv::trimmed(field);
      const auto* const known =
          std::find_if(csv::kNames.begin(), csv::kNames.end(),
                       [&](const csv::ColumnName& n) { return n.name == name; });
      if (known == csv::kNames.end()) {
        add(code::kCsvHeader, here(),
            "must name known columns, is " + in_quotes(name) + hint(name));
        continue;
      }
      if (seen[known->column]) {
        add(code::kCsvHeader, here(),
            "must name each column once, is " + in_quotes(name) + " again");
      }
      seen[known->column] = true;
      columns_.push_back(known->column);
      if (name == "end") last_step_ = 1;
    }
    for (const csv::Column column : {csv::kId, csv::kLower, csv::kUpper, csv::kSize}) {
      if (seen[column]) continue;
      add(code::kCsvHeader, here(),
          "must name the column " + std::string(csv::kNames[first_name(column)].name) +
              ", is without it");
    }
    return errors_.empty();
  }

  static std::size_t first_name(csv::Column column) {
    return static_cast<std::size_t>(
        std::find_if(csv::kNames.begin(), csv::kNames.end(),
                     [&](const csv::ColumnName& n) { return n.column == column; }) -
        csv::kNames.begin());
  }

  static std::string hint(std::string_view name) {
    std::vector<std::string_view> known;
    for (const csv::ColumnName& each : csv::kNames) known.push_back(each.name);
    return did_you_mean(name, known);
  }

  void read_rows() {
    const LayoutPlaces places = [this](std::int64_t buffer, std::string_view member) {
      // Row 0 is line 2; only empty lines at the end are skipped.
      return file_ + ':' + std::to_string(buffer + 2) + ':' + std::string(member);
    };
    while (!rest_.empty()) {
      const std::string_view line = next_line();
      if (csv::trimmed(line).empty() && trimmed_lines(rest_).empty()) break;
      const auto index = static_cast<std::int64_t>(instance_.buffers.size());
      if (index == kMaxBuffers) {
        add(code::kTooManyValues, here(),
            "must be at most " + std::to_string(kMaxBuffers) + " buffers, is more");
        return;
      }
      const std::int64_t before = errors_.found();
      instance_.buffers.push_back(read_row(line));
      if (containers_ > kMaxContainers) {
        add(code::kTooManyValues, here(),
            "must be at most " + std::to_string(kMaxContainers) +
                " buffers, lists of gaps and gaps, is more");
        return;
      }
      if (errors_.found() == before) check_buffer(instance_, index, places, errors_);
    }
    if (errors_.empty()) check_together(instance_, places, errors_);
  }

  static std::string_view trimmed_lines(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    return first == std::string_view::npos ? std::string_view{} : text.substr(first);
  }

  Buffer read_row(std::string_view line) {
    Buffer buffer;
    ++containers_;
    if (csv::fields_in(line) != static_cast<std::int64_t>(columns_.size())) {
      add(code::kCsvRow, here(),
          "must have " + std::to_string(columns_.size()) + " fields, is a line of " +
              std::to_string(csv::fields_in(line)));
      return buffer;
    }
    std::optional<std::string_view> left = line;
    std::string_view field;
    for (const csv::Column column : columns_) {
      csv::take_part(left, ',', field);
      read_field(column, csv::trimmed(field), buffer);
    }
    return buffer;
  }

  void read_field(csv::Column column, std::string_view field, Buffer& buffer) {
    constexpr IntegerRange kCount = {0, kMaxExact};
    switch (column) {
      case csv::kId:
        buffer.id = field;
        break;
      case csv::kLower:
        buffer.lower = integer(column, field, kCount);
        break;
      case csv::kUpper:
        buffer.upper = integer(column, field, {0, kMaxExact - last_step_}) + last_step_;
        break;
      case csv::kSize:
        buffer.size = integer(column, field, kCount);
        break;
      case csv::kAlignmentColumn:
        if (!field.empty()) buffer.alignment = integer(column, field, {1, kMaxExact});
        break;
      case csv::kGapList:
        read_gaps(field, buffer);
        break;
      case csv::kOffset:
        if (!field.empty()) buffer.offset = integer(column, field, kCount);
        break;
      case csv::kHint:  // an address to begin a search with, or -1; no rule depends on it
        if (!field.empty()) integer(column, field, {-1, kMaxExact});
        break;
      case csv::kColumns:
        break;
    }
  }

  std::int64_t integer(csv::Column column, std::string_view field, IntegerRange range) {
    if (const auto value = csv::parse_integer(field, range)) return *value;
    complain(column,
             "an integer from " + std::to_string(range.least) + " to " + std::to_string(range.most),
             field);
    return range.least;
  }

  void complain(csv::Column column, const std::string& expected, std::string_view field) {
    if (!errors_.room()) {
      errors_.add_unseen();
      return;
    }
    add(code::kCsvField, here() + ':' + std::string(csv::kNames[first_name(column)].name),
        "must be " + expected + ", is " + in_quotes(field));
  }

  // Reads "5-7 9-12" and "5-7@0:16". Behind the @ are the bytes that the buffer needs within the
  // gap, as a range of its own addresses.
  void read_gaps(std::string_view field, Buffer& buffer) {
    const IntegerRange steps = {0, kMaxExact - last_step_};
    if (!field.empty()) ++containers_;
    std::optional<std::string_view> left = field;
    for (std::string_view gap; csv::take_part(left, ' ', gap) && containers_ <= kMaxContainers;) {
      if (gap.empty()) continue;
      ++containers_;
      const std::size_t at = gap.find('@');
      const auto range = range_of(gap.substr(0, at), '-', steps);
      const bool has_bytes = at != std::string_view::npos;
      const auto bytes = has_bytes ? range_of(gap.substr(at + 1), ':', {0, kMaxExact})
                                   : std::optional(std::pair<Bytes, Bytes>{});
      if (!range || !bytes || bytes->first > bytes->second) {
        complain(csv::kGapList, "gaps FROM-TO or FROM-TO@FROM:TO between spaces", gap);
        return;
      }
      if (bytes->first < bytes->second) {
        ++partial_gaps_;
      } else {
        buffer.gaps.push_back({range->first, range->second + last_step_});
      }
    }
  }

  // Returns the two integers on both sides of the mark.
  static std::optional<std::pair<std::int64_t, std::int64_t>> range_of(std::string_view text,
                                                                       char mark,
                                                                       IntegerRange range) {
    const std::size_t middle = text.find(mark);
    if (middle == std::string_view::npos) return std::nullopt;
    const auto from = csv::parse_integer(text.substr(0, middle), range);
    const auto to = csv::parse_integer(text.substr(middle + 1), range);
    if (!from || !to) return std::nullopt;
    return std::pair(*from, *to);
  }

  std::string_view rest_;
  const std::string file_;
  std::int64_t line_number_ = 0;
  std::vector<csv::Column> columns_;  // column of each field
  std::int64_t last_step_ = 0;        // 1 if the column `end` holds the last step
  std::int64_t partial_gaps_ = 0;
  std::int64_t containers_ = 2;  // arrays and objects of the same instance in JSON, so far
  LayoutInstance instance_;
  ErrorList errors_;
};

}  // namespace

bool names_buffers(std::string_view text) {
  std::optional<std::string_view> left = text.substr(0, text.find_first_of("\r\n"));
  if (left->find(',') == std::string_view::npos) return false;
  for (std::string_view field; csv::take_part(left, ',', field);) {
    const std::string_view name = csv::trimmed(field);
    if (std::ranges::any_of(csv::kNames, [&](const csv::ColumnName& n) { return n.name == name; }))
      return true;
  }
  return false;
}

Result<LayoutInstance> read_layout_csv(std::string_view text, std::string_view file,
                                       std::int64_t* partial_gaps) {
  CsvReader reader(text, file);
  Result<LayoutInstance> read = reader.read();
  if (partial_gaps != nullptr) *partial_gaps = reader.partial_gaps();
  return read;
}

std::optional<Bytes> capacity_in_file_name(const std::filesystem::path& path) {
  const std::string part = path.stem().extension().string();
  if (part.empty()) return std::nullopt;
  return csv::parse_integer(std::string_view(part).substr(1), {0, kMaxExact});
}

}  // namespace stowage
