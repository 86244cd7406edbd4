// Infinity, numbers as indices, and numbers as people read them: thousands apart, as many digits as
// matter.
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

// An index that is known not to be negative.
constexpr std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

// Digits in groups of three, separated by spaces. Any 64-bit value.
std::string grouped(std::int64_t value);

// "1 group", "1 842 groups"; the plural is the noun and an s unless it is given.
std::string counted(std::int64_t count, const std::string& noun, const std::string& plural = "");

// A time in ms without its unit: no decimals from 1000 up, otherwise four significant digits;
// "-" when there is none or it is not finite. Never the "-0" of a tiny negative value.
std::string ms_text(double ms);
std::string ms_text(const std::optional<double>& ms);

// A share as "5.29%", two decimals; "-" when there is none or it is not finite.
std::string percent_text(const std::optional<double>& share);

// "0.05s", "12.30s", "1 204.00s"
std::string seconds_text(double seconds);

// Three significant digits: "4", "0.0125", "1.23e+06".
std::string significant(double value);

// "1.2e-07"; "nan" and "inf" as they are.
std::string scientific(double value);

// The shortest decimal that reads back as the same double: "0.5", "1e-06".
std::string shortest(double value);

}  // namespace stowage
