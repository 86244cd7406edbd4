// Longer than 300 lines: the reader and the writer of one format, which share its columns.
#include "instances/layout/json/csv.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>
#include <vector>

#include "instances/json/errors.h"
#include "instances/json/limits.h"
#include "instances/json/reader.h"
#include "instances/json/text.h"
#include "instances/layout/load.h"
#include "instances/layout/validate.h"

namespace stowage {
namespace {

enum Column : std::size_t {
  kId,
  kLower,
  kUpper,
  kSize,
  kAlignmentColumn,
  kGapList,
  kOffset,
  kHint,
  kColumns
};

constexpr std::int64_t kMaxFields = 100;  // of a header; longer headers are refused

struct ColumnName {
  std::string_view name;
  Column column;
};

constexpr std::array<ColumnName, 13> kNames = {{{"id", kId},
                                                {"buffer", kId},
                                                {"buffer_id", kId},
                                                {"lower", kLower},
                                                {"start", kLower},
                                                {"begin", kLower},
                                                {"upper", kUpper},
                                                {"end", kUpper},
                                                {"size", kSize},
                                                {"alignment", kAlignmentColumn},
                                                {"gaps", kGapList},
                                                {"offset", kOffset},
                                                {"hint", kHint}}};

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// Takes the text before the next separator off `text`. Returns false after the last part.
bool take_part(std::optional<std::string_view>& text, char separator, std::string_view& part) {
  if (!text) return false;
  const std::size_t end = text->find(separator);
  part = text->substr(0, end);
  text = end == std::string_view::npos ? std::nullopt : std::optional(text->substr(end + 1));
  return true;
}

std::int64_t fields_in(std::string_view line) {
  return 1 + static_cast<std::int64_t>(std::ranges::count(line, ','));
}

std::optional<std::int64_t> parse_integer(std::string_view text, IntegerRange range) {
  std::int64_t value = 0;
  const char* const last = text.data() + text.size();
  const auto [end, failure] = std::from_chars(text.data(), last, value);
  if (failure != std::errc() || end != last || value < range.least || value > range.most) {
    return std::nullopt;
  }
  return value;
}

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
    std::array<bool, kColumns> seen{};
    const std::string_view line = next_line();
    if (fields_in(line) > kMaxFields) {
      add(code::kCsvHeader, here(),
          "must name at most " + std::to_string(kColumns) + " columns, is a line of " +
              std::to_string(fields_in(line)) + " fields");
      return false;
    }
    std::optional<std::string_view> left = line;
    for (std::string_view field; take_part(left, ',', field);) {
      const std::string_view name = trimmed(field);
      const auto* const known = std::find_if(kNames.begin(), kNames.end(),
                                             [&](const ColumnName& n) { return n.name == name; });
      if (known == kNames.end()) {
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
    for (const Column column : {kId, kLower, kUpper, kSize}) {
      if (seen[column]) continue;
      add(code::kCsvHeader, here(),
          "must name the column " + std::string(kNames[first_name(column)].name) +
              ", is without it");
    }
    return errors_.empty();
  }

  static std::size_t first_name(Column column) {
    return static_cast<std::size_t>(
        std::find_if(kNames.begin(), kNames.end(),
                     [&](const ColumnName& n) { return n.column == column; }) -
        kNames.begin());
  }

  static std::string hint(std::string_view name) {
    std::vector<std::string_view> known;
    for (const ColumnName& each : kNames) known.push_back(each.name);
    return did_you_mean(name, known);
  }

  void read_rows() {
    const LayoutPlaces places = [this](std::int64_t buffer, std::string_view member) {
      // Row 0 is line 2; only empty lines at the end are skipped.
      return file_ + ':' + std::to_string(buffer + 2) + ':' + std::string(member);
    };
    while (!rest_.empty()) {
      const std::string_view line = next_line();
      if (trimmed(line).empty() && trimmed_lines(rest_).empty()) break;
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
    if (fields_in(line) != static_cast<std::int64_t>(columns_.size())) {
      add(code::kCsvRow, here(),
          "must have " + std::to_string(columns_.size()) + " fields, is a line of " +
              std::to_string(fields_in(line)));
      return buffer;
    }
    std::optional<std::string_view> left = line;
    std::string_view field;
    for (const Column column : columns_) {
      take_part(left, ',', field);
      read_field(column, trimmed(field), buffer);
    }
    return buffer;
  }

  void read_field(Column column, std::string_view field, Buffer& buffer) {
    constexpr IntegerRange kCount = {0, kMaxExact};
    switch (column) {
      case kId:
        buffer.id = field;
        break;
      case kLower:
        buffer.lower = integer(column, field, kCount);
        break;
      case kUpper:
        buffer.upper = integer(column, field, {0, kMaxExact - last_step_}) + last_step_;
        break;
      case kSize:
        buffer.size = integer(column, field, kCount);
        break;
      case kAlignmentColumn:
        if (!field.empty()) buffer.alignment = integer(column, field, {1, kMaxExact});
        break;
      case kGapList:
        read_gaps(field, buffer);
        break;
      case kOffset:
        if (!field.empty()) buffer.offset = integer(column, field, kCount);
        break;
      case kHint:  // an address to begin a search with, or -1; no rule depends on it
        if (!field.empty()) integer(column, field, {-1, kMaxExact});
        break;
      case kColumns:
        break;
    }
  }

  std::int64_t integer(Column column, std::string_view field, IntegerRange range) {
    if (const auto value = parse_integer(field, range)) return *value;
    complain(column,
             "an integer from " + std::to_string(range.least) + " to " + std::to_string(range.most),
             field);
    return range.least;
  }

  void complain(Column column, const std::string& expected, std::string_view field) {
    if (!errors_.room()) {
      errors_.add_unseen();
      return;
    }
    add(code::kCsvField, here() + ':' + std::string(kNames[first_name(column)].name),
        "must be " + expected + ", is " + in_quotes(field));
  }

  // Reads "5-7 9-12" and "5-7@0:16". Behind the @ are the bytes that the buffer needs within the
  // gap, as a range of its own addresses.
  void read_gaps(std::string_view field, Buffer& buffer) {
    const IntegerRange steps = {0, kMaxExact - last_step_};
    if (!field.empty()) ++containers_;
    std::optional<std::string_view> left = field;
    for (std::string_view gap; take_part(left, ' ', gap) && containers_ <= kMaxContainers;) {
      if (gap.empty()) continue;
      ++containers_;
      const std::size_t at = gap.find('@');
      const auto range = range_of(gap.substr(0, at), '-', steps);
      const bool has_bytes = at != std::string_view::npos;
      const auto bytes = has_bytes ? range_of(gap.substr(at + 1), ':', {0, kMaxExact})
                                   : std::optional(std::pair<Bytes, Bytes>{});
      if (!range || !bytes || bytes->first > bytes->second) {
        complain(kGapList, "gaps FROM-TO or FROM-TO@FROM:TO between spaces", gap);
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
    const auto from = parse_integer(text.substr(0, middle), range);
    const auto to = parse_integer(text.substr(middle + 1), range);
    if (!from || !to) return std::nullopt;
    return std::pair(*from, *to);
  }

  std::string_view rest_;
  const std::string file_;
  std::int64_t line_number_ = 0;
  std::vector<Column> columns_;  // column of each field
  std::int64_t last_step_ = 0;   // 1 if the column `end` holds the last step
  std::int64_t partial_gaps_ = 0;
  std::int64_t containers_ = 2;  // arrays and objects of the same instance in JSON, so far
  LayoutInstance instance_;
  ErrorList errors_;
};

// Returns whether a line can hold the id unchanged. A control character may change a terminal, and
// a spreadsheet takes some first characters for a formula.
bool fits_a_field(const std::string& id) {
  const bool formula =
      !id.empty() && std::string_view("=+-@").find(id.front()) != std::string::npos;
  return id.find(',') == std::string::npos && printable(id) == id && !formula && trimmed(id) == id;
}

Result<std::string> write(const LayoutInstance& instance, const LayoutPlan* plan) {
  ErrorList errors;
  bool alignments = false;
  bool gaps = false;
  bool offsets = plan != nullptr;
  for (std::size_t i = 0; i < instance.buffers.size(); ++i) {
    const Buffer& buffer = instance.buffers[i];
    alignments = alignments || alignment_of(instance, buffer) != 1;
    gaps = gaps || !buffer.gaps.empty();
    offsets = offsets || buffer.offset.has_value();
    if (fits_a_field(buffer.id)) continue;
    errors.add(code::kCsvId, "/buffers/" + std::to_string(i) + "/id",
               "must be without commas, control characters, outer spaces and =, +, - or @ in "
               "front, is " +
                   in_quotes(buffer.id));
  }
  if (!errors.empty()) return std::move(errors).take();

  std::string text = "id,lower,upper,size";
  if (alignments) text += ",alignment";
  if (gaps) text += ",gaps";
  if (offsets) text += ",offset";
  text += '\n';
  for (std::size_t i = 0; i < instance.buffers.size(); ++i) {
    const Buffer& buffer = instance.buffers[i];
    text += buffer.id.empty() ? std::to_string(i) : buffer.id;
    for (const std::int64_t value : {buffer.lower, buffer.upper, buffer.size}) {
      text += ',' + std::to_string(value);
    }
    if (alignments) text += ',' + std::to_string(alignment_of(instance, buffer));
    if (gaps) text += ',';
    for (std::size_t k = 0; k < buffer.gaps.size(); ++k) {
      text += (k == 0 ? "" : " ") + std::to_string(buffer.gaps[k].lower) + '-' +
              std::to_string(buffer.gaps[k].upper);
    }
    if (offsets) text += ',';
    if (plan != nullptr) {
      text += std::to_string(plan->offsets[i]);
    } else if (buffer.offset) {
      text += std::to_string(*buffer.offset);
    }
    text += '\n';
  }
  return text;
}

}  // namespace

bool names_buffers(std::string_view text) {
  std::optional<std::string_view> left = text.substr(0, text.find_first_of("\r\n"));
  if (left->find(',') == std::string_view::npos) return false;
  for (std::string_view field; take_part(left, ',', field);) {
    const std::string_view name = trimmed(field);
    if (std::ranges::any_of(kNames, [&](const ColumnName& n) { return n.name == name; }))
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

Result<std::string> write_layout_csv(const LayoutInstance& instance) {
  return write(instance, nullptr);
}

Result<std::string> write_layout_csv(const LayoutInstance& instance, const LayoutPlan& plan) {
  return write(instance, &plan);
}

std::optional<Bytes> capacity_in_file_name(const std::filesystem::path& path) {
  const std::string part = path.stem().extension().string();
  if (part.empty()) return std::nullopt;
  return parse_integer(std::string_view(part).substr(1), {0, kMaxExact});
}

}  // namespace stowage
