#include "instances/strategy/fit/log_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>

#include "instances/json/errors.h"
#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

std::optional<double> steady_median(std::vector<double> values) {
  const auto warm_up = static_cast<std::ptrdiff_t>(
      values.size() > 1 ? std::max<std::size_t>(1, values.size() / 5) : 0);
  values.erase(values.begin(), values.begin() + warm_up);
  if (values.empty()) return std::nullopt;
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}  // namespace

std::optional<double> leading_number(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  std::string digits;
  for (const char c : text) {
    if (c == ',' && !digits.empty()) continue;
    const bool part =
        (c >= '0' && c <= '9') || c == '.' || c == 'e' || c == 'E' || c == '-' || c == '+';
    if (!part) break;
    digits += c;
  }
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end == digits.data() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<double> number_after(std::string_view line, std::string_view words) {
  const std::size_t place = line.find(words);
  if (place == std::string_view::npos) return std::nullopt;
  return leading_number(line.substr(place + words.size()));
}

std::string_view bare_text(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\"");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\"") - first + 1);
}

std::vector<std::string> log_lines(std::string_view text) {
  std::vector<std::string> lines(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1B') {
      while (i < text.size() && text[i] != 'm') ++i;
    } else if (text[i] == '\n') {
      lines.emplace_back();
    } else {
      lines.back() += text[i];
    }
  }
  return lines;
}

std::string integer_text(double value) { return std::to_string(std::llround(value)); }

bool is_set(const LogValues& arguments, std::string_view name) {
  const auto found = arguments.find(name);
  return found != arguments.end() && (found->second == "True" || found->second == "true");
}

std::string argument_of(const LogValues& arguments, std::string_view name) {
  const auto found = arguments.find(name);
  if (found == arguments.end() || found->second == "None" || found->second == "null") return "";
  return found->second;
}

std::int64_t whole_number(const std::string& text) {
  const std::optional<double> value = leading_number(text);
  return value && *value >= 0 && *value < 1e15 ? std::llround(*value) : 0;
}

std::optional<InputError> put_steps(const LoggedSeries& series, const std::string& place,
                                    LogValues& run) {
  const std::optional<double> step = steady_median(series.step_ms);
  if (!step || !(*step > 0)) {
    return InputError{
        code::kLoggedRun, place,
        "must have the times of two steps or more, has " + std::to_string(series.step_ms.size())};
  }
  run["step_ms"] = shortest(*step);
  if (!series.peak_mib.empty()) {
    run["peak_mib"] = shortest(std::ranges::max(series.peak_mib));
  }
  return std::nullopt;
}

}  // namespace stowage
