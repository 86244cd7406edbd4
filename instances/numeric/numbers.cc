#include "instances/numeric/numbers.h"

#include <array>
#include <charconv>
#include <cmath>

namespace stowage {
namespace {

std::string group_digits(const std::string& digits) {
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ' ';
    text += digits[i];
  }
  return text;
}

// Returns fixed notation with the integral part in groups. Locale-free, unlike printf.
std::string fixed(double value, int decimals) {
  std::array<char, 400> buffer;  // DBL_MAX has 309 digits before the point
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), std::abs(value),
                                 std::chars_format::fixed, decimals);
  const std::string text(buffer.data(), end.ptr);
  const std::size_t point = text.find('.');
  const std::string grouped_text =
      group_digits(text.substr(0, point)) + (point == std::string::npos ? "" : text.substr(point));
  const bool is_zero = grouped_text.find_first_not_of("0.") == std::string::npos;
  return (value < 0 && !is_zero ? "-" : "") + grouped_text;
}

}  // namespace

std::string grouped(std::int64_t value) {
  const std::string digits = std::to_string(value);
  return value < 0 ? '-' + group_digits(digits.substr(1)) : group_digits(digits);
}

std::string counted(std::int64_t count, const std::string& noun, const std::string& plural) {
  const std::string number = grouped(count) + ' ';
  if (count == 1) return number + noun;
  return number + (plural.empty() ? noun + 's' : plural);
}

std::string ms_text(double ms) {
  if (!std::isfinite(ms)) return "-";
  const double size = std::abs(ms);
  // The limits are where rounding would otherwise add a digit: 999.95 is "1 000".
  const int decimals = size >= 999.95 ? 0 : size >= 99.995 ? 1 : size >= 9.9995 ? 2 : 3;
  return fixed(ms, decimals);
}

std::string ms_text(const std::optional<double>& ms) { return ms ? ms_text(*ms) : "-"; }

std::string percent_text(const std::optional<double>& share) {
  if (!share || !std::isfinite(*share)) return "-";
  return fixed(*share * 100, 2) + '%';
}

std::string seconds_text(double seconds) { return fixed(seconds, 2) + 's'; }

std::string significant(double value) {
  std::array<char, 40> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                 std::chars_format::general, 3);
  return std::string(buffer.data(), end.ptr);
}

std::string scientific(double value) {
  std::array<char, 40> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                 std::chars_format::scientific, 1);
  return std::string(buffer.data(), end.ptr);
}

std::string shortest(double value) {
  std::array<char, 40> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return std::string(buffer.data(), end.ptr);
}

}  // namespace stowage
