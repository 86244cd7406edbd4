#include "formulations/milp/export_text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

namespace stowage::milp {
namespace {

constexpr std::size_t kLongest = 60;  // CoinLpIO stops at 100, GLPK at 255

// Section names and number words of the LP format, in lower case.
constexpr std::array<std::string_view, 27> kKeywords = {
    "bin",      "binaries", "binary",   "bound",    "bounds",   "end",    "free",
    "gen",      "general",  "generals", "inf",      "infinity", "int",    "integer",
    "integers", "max",      "maximise", "maximize", "maximum",  "min",    "minimise",
    "minimize", "minimum",  "semi",     "sos",      "st",       "subject"};

bool alpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool digit(char c) { return c >= '0' && c <= '9'; }

bool misleading(const std::string& name) {
  if (name.empty() || !alpha(name[0])) return true;
  std::string lower = name;
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  // "3 e1" would read as 30.
  if (lower[0] == 'e' && (lower.size() == 1 || digit(lower[1]))) return true;
  return std::find(kKeywords.begin(), kKeywords.end(), lower) != kKeywords.end();
}

}  // namespace

std::string ExportNames::make(std::string_view wanted) {
  std::string name(wanted.substr(0, kLongest - 10));
  for (char& c : name) {
    if (!alpha(c) && !digit(c)) c = '_';
  }
  if (misleading(name)) name = "n_" + name;
  std::string unique = name;
  for (int k = 1; !taken_.insert(unique).second; ++k) unique = name + '_' + std::to_string(k);
  return unique;
}

std::string number_text(double number) {
  std::array<char, 40> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number);
  return {text.data(), end.ptr};
}

}  // namespace stowage::milp
