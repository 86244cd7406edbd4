// The columns of a table of buffers, and the fields of its lines.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

#include "instances/json/limits.h"
#include "instances/json/reader.h"

namespace stowage::csv {

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

inline constexpr std::int64_t kMaxFields = 100;  // of a header; longer headers are refused

struct ColumnName {
  std::string_view name;
  Column column;
};

inline constexpr std::array<ColumnName, 13> kNames = {{{"id", kId},
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

inline std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// Takes the text before the next separator off `text`. Returns false after the last part.
inline bool take_part(std::optional<std::string_view>& text, char separator,
                      std::string_view& part) {
  if (!text) return false;
  const std::size_t end = text->find(separator);
  part = text->substr(0, end);
  text = end == std::string_view::npos ? std::nullopt : std::optional(text->substr(end + 1));
  return true;
}

inline std::int64_t fields_in(std::string_view line) {
  return 1 + static_cast<std::int64_t>(std::ranges::count(line, ','));
}

inline std::optional<std::int64_t> parse_integer(std::string_view text, IntegerRange range) {
  std::int64_t value = 0;
  const char* const last = text.data() + text.size();
  const auto [end, failure] = std::from_chars(text.data(), last, value);
  if (failure != std::errc() || end != last || value < range.least || value > range.most) {
    return std::nullopt;
  }
  return value;
}

}  // namespace stowage::csv
