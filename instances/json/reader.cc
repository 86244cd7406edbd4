#include "instances/json/reader.h"

#include <algorithm>
#include <cmath>

#include "instances/json/text.h"
#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

std::string expected_integer(IntegerRange range) {
  return "an integer from " + std::to_string(range.least) + " to " + std::to_string(range.most);
}

std::string expected_number(NumberRange range) {
  const NumberRange any;
  std::string text = "a number";
  if (range.least != any.least)
    text += (range.above ? " above " : " from ") + shortest(range.least);
  if (range.most != any.most) {
    text += (range.least == any.least || range.above ? " up to " : " to ") + shortest(range.most);
  }
  return text;
}

std::string must(std::string_view expected, const JsonValue& value) {
  return "must be " + std::string(expected) + ", is " + describe(value);
}

std::string listed(std::span<const std::string_view> words) {
  std::string text;
  for (const std::string_view word : words) {
    if (!text.empty()) text += ", ";
    text += word;
  }
  return text;
}

}  // namespace

std::string did_you_mean(std::string_view word, std::span<const std::string_view> known) {
  // Longer words are not compared with known keys: the time grows with the product of the lengths.
  constexpr std::size_t kLongestWord = 64;
  if (word.size() > kLongestWord) return "";
  std::string_view best;
  std::size_t best_distance = 0;
  for (const std::string_view candidate : known) {
    const std::size_t distance = edit_distance(word, candidate);
    if (best.empty() || distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  if (best.empty() || best_distance > std::max<std::size_t>(2, best.size() / 3)) return "";
  return ", did you mean " + in_quotes(best) + "?";
}

std::string JsonPath::pointer() const {
  if (parent_ == nullptr) return "";
  return parent_->pointer() +
         (index_ >= 0 ? '/' + std::to_string(index_) : json_pointer_step(key_));
}

void add_wrong_type(const JsonValue& value, const JsonPath& path, std::string_view expected,
                    ErrorList& errors) {
  errors.add(code::kWrongType, path.pointer(), must(expected, value));
}

std::optional<std::int64_t> read_integer(const JsonValue& value, const JsonPath& path,
                                         IntegerRange range, ErrorList& errors) {
  const std::int64_t* integer = value.integer();
  if (integer != nullptr && *integer >= range.least && *integer <= range.most) return *integer;
  if (!errors.room()) {
    errors.add_unseen();
    return std::nullopt;
  }
  constexpr double kBeyondInt64 = 9223372036854775808.0;
  const bool huge = value.fraction() != nullptr && std::abs(*value.fraction()) >= kBeyondInt64;
  if (integer != nullptr || huge) {
    errors.add(code::kIntegerRange, path.pointer(), must(expected_integer(range), value));
  } else if (value.fraction() != nullptr) {
    errors.add(code::kFraction, path.pointer(),
               must(expected_integer(range) + " without fraction or exponent", value));
  } else {
    add_wrong_type(value, path, expected_integer(range), errors);
  }
  return std::nullopt;
}

std::optional<double> read_number(const JsonValue& value, const JsonPath& path, NumberRange range,
                                  ErrorList& errors) {
  double number = 0;
  if (value.integer() != nullptr) {
    number = static_cast<double>(*value.integer());
    // 2^63 is a double, but does not fit a 64-bit integer.
    const bool exact = number < 0x1p63 && static_cast<std::int64_t>(number) == *value.integer();
    if (!exact) {
      errors.add(code::kNumberRange, path.pointer(),
                 must("a number that a double holds exactly", value));
      return std::nullopt;
    }
  } else if (value.fraction() != nullptr) {
    number = *value.fraction();
  } else {
    add_wrong_type(value, path, expected_number(range), errors);
    return std::nullopt;
  }
  const bool too_small = range.above ? number <= range.least : number < range.least;
  if (too_small || number > range.most) {
    errors.add(code::kNumberRange, path.pointer(), must(expected_number(range), value));
    return std::nullopt;
  }
  return number;
}

std::vector<std::int64_t> read_integers(const JsonValue& value, const JsonPath& path,
                                        IntegerRange range, ErrorList& errors) {
  std::vector<std::int64_t> integers;
  const JsonValue::Array* elements = value.array();
  if (elements == nullptr) {
    add_wrong_type(value, path, "an array of integers", errors);
    return integers;
  }
  integers.reserve(elements->size());
  for (const JsonValue& element : *elements) {
    const auto index = static_cast<std::int64_t>(integers.size());
    const std::int64_t* integer = element.integer();
    if (integer != nullptr && *integer >= range.least && *integer <= range.most) {
      integers.push_back(*integer);
    } else {
      integers.push_back(
          read_integer(element, path.index(index), range, errors).value_or(range.least));
    }
  }
  return integers;
}

ObjectReader::ObjectReader(const JsonValue& value, const JsonPath& path, ErrorList& errors,
                           std::span<const std::string_view> keys)
    : value_(value), path_(path), errors_(errors) {
  const JsonValue::Object* members = value.object();
  if (members == nullptr) {
    add_wrong_type(value, path, "an object", errors);
    return;
  }
  for (const JsonMember& member : *members) {
    if (std::find(keys.begin(), keys.end(), member.key) != keys.end()) continue;
    if (member.key.compare(0, 2, "x-") == 0) continue;
    if (!errors.room()) {
      errors.add_unseen();
      continue;
    }
    const std::string hint = did_you_mean(member.key, keys);
    errors.add(code::kUnknownKey, path.key(member.key).pointer(),
               "must be a known key, is " + in_quotes(member.key) +
                   (hint.empty() ? " (known: " + listed(keys) + ")" : hint));
  }
}

const JsonValue* ObjectReader::require(std::string_view key) const {
  const JsonValue* member = find(key);
  if (member == nullptr && value_.object() != nullptr) {
    errors_.add(code::kMissingKey, at(key).pointer(), "must be given, is missing");
  }
  return member;
}

std::int64_t ObjectReader::integer(std::string_view key, IntegerRange range,
                                   std::optional<std::int64_t> fallback) const {
  const JsonValue* member = fallback ? find(key) : require(key);
  const std::int64_t otherwise = fallback.value_or(range.least);
  if (member == nullptr) return otherwise;
  return read_integer(*member, at(key), range, errors_).value_or(otherwise);
}

double ObjectReader::number(std::string_view key, NumberRange range,
                            std::optional<double> fallback) const {
  const JsonValue* member = fallback ? find(key) : require(key);
  const double otherwise = fallback.value_or(range.least);
  if (member == nullptr) return otherwise;
  return read_number(*member, at(key), range, errors_).value_or(otherwise);
}

bool ObjectReader::boolean(std::string_view key, bool fallback) const {
  const JsonValue* member = find(key);
  if (member == nullptr) return fallback;
  if (const bool* held = member->boolean()) return *held;
  add_wrong_type(*member, at(key), "true or false", errors_);
  return fallback;
}

std::string ObjectReader::text(std::string_view key,
                               const std::optional<std::string>& fallback) const {
  const JsonValue* member = fallback ? find(key) : require(key);
  if (member == nullptr) return fallback.value_or("");
  if (const std::string* held = member->string()) return *held;
  add_wrong_type(*member, at(key), "a string", errors_);
  return fallback.value_or("");
}

std::optional<std::size_t> ObjectReader::one_of(std::string_view key,
                                                std::span<const std::string_view> names,
                                                const std::optional<std::string>& fallback) const {
  const std::string name = text(key, fallback);
  const auto found = std::ranges::find(names, name);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  errors_.add(code::kGenerator, at(key).pointer(),
              "must be one of " + listed(names) + ", is \"" + name + '"');
  return std::nullopt;
}

const JsonValue::Array* ObjectReader::array(std::string_view key) const {
  const JsonValue* member = require(key);
  if (member == nullptr) return nullptr;
  if (member->array() == nullptr) add_wrong_type(*member, at(key), "an array", errors_);
  return member->array();
}

bool check_head(const ObjectReader& document, std::string_view format, std::string_view problem,
                std::int64_t newest) {
  ErrorList& errors = document.errors();
  bool ours = true;
  const auto expect_text = [&](std::string_view key, std::string_view expected, const char* error) {
    const JsonValue* member = document.require(key);
    if (member == nullptr) return;
    if (member->string() != nullptr && *member->string() == expected) return;
    ours = false;
    errors.add(error, document.at(key).pointer(), must(in_quotes(expected), *member));
  };
  expect_text("format", format, code::kFormat);
  if (const JsonValue* version = document.require("version")) {
    const std::int64_t* number = version->integer();
    if (number == nullptr || *number < 1 || *number > newest) {
      ours = false;
      errors.add(code::kVersion, document.at("version").pointer(),
                 must(newest == 1 ? "1" : "1 to " + std::to_string(newest), *version));
    }
  }
  expect_text("problem", problem, code::kProblem);
  return ours;
}

PlanPlace plan_in(const JsonValue& document, const JsonPath& root, ErrorList& errors) {
  const JsonValue* format = document.find("format");
  const bool outcome =
      format != nullptr && format->string() != nullptr && *format->string() == "stowage/outcome";
  if (!outcome) return {&document, root};
  const JsonValue* inner = document.find("plan");
  if (inner != nullptr && !inner->is_null()) return {inner, root.key("plan")};
  errors.add(code::kNoPlan, "/plan", "must be a plan, is an outcome without one");
  return {};
}

}  // namespace stowage
