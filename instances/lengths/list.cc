#include "instances/lengths/list.h"

#include <algorithm>
#include <charconv>

#include "instances/json/document.h"
#include "instances/json/errors.h"
#include "instances/json/limits.h"
#include "instances/json/text.h"

namespace stowage {
namespace {

std::optional<Tokens> parse_length(std::string_view line, Tokens least) {
  Tokens length = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), length);
  const bool whole = error == std::errc() && end == line.data() + line.size();
  if (!whole || length < least || length > kMaxExact) return std::nullopt;
  return length;
}

}  // namespace

Result<std::vector<Tokens>> read_length_list(std::string_view text, std::string_view file,
                                             const LengthSelection& selection) {
  ErrorList errors;
  std::vector<Tokens> lengths;
  const std::int64_t count = selection.count.value_or(kMaxSequences);
  if (selection.count)
    lengths.reserve(static_cast<std::size_t>(std::min<std::int64_t>(count, 65536)));
  std::int64_t line_number = 0;
  while (!text.empty() && line_number - selection.first < count) {
    const std::size_t newline = text.find('\n');
    std::string_view line = text.substr(0, newline);
    text.remove_prefix(newline == std::string_view::npos ? text.size() : newline + 1);
    if (line_number++ < selection.first) continue;
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (const std::optional<Tokens> length = parse_length(line, selection.least)) {
      lengths.push_back(*length);
    } else if (errors.room()) {
      errors.add(code::kListLine,
                 std::string(file) + ':' + std::to_string(line_number - 1 + selection.line),
                 "must be an integer from " + std::to_string(selection.least) + " to " +
                     std::to_string(kMaxExact) + ", is " + in_quotes(line));
    } else {
      errors.add_unseen();
    }
  }
  if (!selection.count && !text.empty()) {
    errors.add(code::kTooManyValues,
               std::string(file) + ':' + std::to_string(line_number + selection.line),
               "must be at most " + std::to_string(kMaxSequences) + " selected lines, is more");
  }
  const bool beyond =
      selection.count ? line_number < selection.first + count : line_number < selection.first;
  if (beyond) {
    const std::string lines =
        selection.count ? "s " + std::to_string(selection.first + 1) + " to " +
                              std::to_string(selection.first + count)
                        : ' ' + std::to_string(selection.first) + ", before those selected";
    errors.add(
        code::kListRange, std::string(file),
        "must hold the line" + lines + ", is a list of " + std::to_string(line_number) + " lines");
  }
  if (!errors.empty()) return std::move(errors).take();
  return lengths;
}

Result<std::vector<Tokens>> read_length_file(const std::filesystem::path& path,
                                             const LengthSelection& selection) {
  const Result<std::string> text = read_text_file(path);
  if (!text) return text.errors();
  return read_length_list(*text, path.string(), selection);
}

}  // namespace stowage
