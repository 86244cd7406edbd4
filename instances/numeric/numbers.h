// Infinity, numbers as indices, and numbers as text for people: digits in groups of three, and only
// the digits that matter.
//
//   values[at(variable)]             for an int or std::int64_t
//   grouped(1842560) == "1 842 560"
//   ms_text(15310.4) == "15 310"     ms_text(43.256) == "43.26"
//   percent_text(0.0529) == "5.29%"  seconds_text(0.05) == "0.05s"
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

namespace stowage {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Converts an index that is known not to be negative.
constexpr std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

// Returns the digits in groups of three, separated by spaces. Accepts any 64-bit value.
std::string grouped(std::int64_t value);

// Returns "1 group", "1 842 groups". The default plural is the noun and an s.
std::string counted(std::int64_t count, const std::string& noun, const std::string& plural = "");

// Returns a time in ms without its unit: no decimals from 1000 up, otherwise four significant
// digits. Returns "-" if the time is missing or not finite, and never the "-0" of a tiny negative
// value.
std::string ms_text(double ms);
std::string ms_text(const std::optional<double>& ms);

// Returns a share as "5.29%", with two decimals; "-" if the share is missing or not finite.
std::string percent_text(const std::optional<double>& share);

// Returns "0.05s", "12.30s", "1 204.00s".
std::string seconds_text(double seconds);

// Returns three significant digits: "4", "0.0125", "1.23e+06".
std::string significant(double value);

// Returns "1.2e-07"; "nan" and "inf" stay as they are.
std::string scientific(double value);

// Returns the shortest decimal that reads back as the same double: "0.5", "1e-06".
std::string shortest(double value);

}  // namespace stowage
