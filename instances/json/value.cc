#include "instances/json/value.h"

#include <array>
#include <charconv>

#include "instances/json/text.h"

namespace stowage {
namespace {

// Returns the digits, cut to the length of texts in messages.
std::string shown_digits(const std::string& digits) {
  constexpr std::size_t kShown = 40;
  return digits.size() <= kShown ? digits : digits.substr(0, kShown) + "...";
}

}  // namespace

const JsonValue* JsonValue::find(std::string_view key) const {
  const Object* members = object();
  if (members == nullptr) return nullptr;
  for (const JsonMember& member : *members) {
    if (member.key == key) return &member.value;
  }
  return nullptr;
}

std::string describe(const JsonValue& value) {
  if (const bool* boolean = value.boolean()) return *boolean ? "true" : "false";
  if (const std::int64_t* integer = value.integer()) return std::to_string(*integer);
  if (const WrittenInteger* written = value.beyond_integers()) return shown_digits(written->digits);
  if (const double* fraction = value.fraction()) {
    std::array<char, 32> buffer{};
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), *fraction).ptr;
    std::string text(buffer.data(), end);
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    return text;
  }
  if (const std::string* string = value.string()) return in_quotes(*string);
  if (value.array() != nullptr) return "an array";
  if (value.object() != nullptr) return "an object";
  return "null";
}

}  // namespace stowage
