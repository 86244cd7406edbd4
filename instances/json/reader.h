// Reads objects key by key and collects every error.
//
//   ObjectReader cluster(value, path, errors, {"devices", "memory_mib"});
//   const std::int64_t devices = cluster.integer("devices", {1, kMaxDevices});
//   const double memory = cluster.number("memory_mib", {.least = 0});
//
// A getter that finds an error adds it and returns its fallback, or the least allowed value, so
// that reading goes on. The caller checks the error list in the end. Pointers into the document are
// built only when an error needs one.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "instances/json/errors.h"
#include "instances/json/value.h"
#include "instances/result.h"
#include "instances/units.h"

namespace stowage {

// A place in a document: a chain of steps that live on the stack, or the root.
class JsonPath {
 public:
  JsonPath() = default;
  JsonPath key(std::string_view step) const { return JsonPath(this, step, -1); }
  JsonPath index(std::int64_t step) const { return JsonPath(this, {}, step); }
  std::string pointer() const;  // RFC 6901

 private:
  JsonPath(const JsonPath* parent, std::string_view step, std::int64_t element)
      : parent_(parent), key_(step), index_(element) {}
  const JsonPath* parent_ = nullptr;  // must outlive this
  std::string_view key_;
  std::int64_t index_ = -1;
};

struct IntegerRange {
  std::int64_t least = 0;
  std::int64_t most = kMaxExact;
};

struct NumberRange {
  double least = std::numeric_limits<double>::lowest();
  double most = std::numeric_limits<double>::max();
  bool above = false;  // `least` itself is excluded
};

// Returns the value as an integer of the range, or nullopt after an error. A number with a fraction
// or an exponent is not an integer, even if its value is whole.
std::optional<std::int64_t> read_integer(const JsonValue& value, const JsonPath& path,
                                         IntegerRange range, ErrorList& errors);

// Returns the value as a number of the range, or nullopt after an error.
std::optional<double> read_number(const JsonValue& value, const JsonPath& path, NumberRange range,
                                  ErrorList& errors);

// Returns an array of integers of one range. Wrong elements are reported and read as the least
// value.
std::vector<std::int64_t> read_integers(const JsonValue& value, const JsonPath& path,
                                        IntegerRange range, ErrorList& errors);

// Adds an E203: must be `expected`, is the value.
void add_wrong_type(const JsonValue& value, const JsonPath& path, std::string_view expected,
                    ErrorList& errors);

class ObjectReader {
 public:
  // Reports a value that is not an object, and every key that is neither in `keys` nor begins with
  // x-.
  // `value`, `path` and `errors` must outlive the reader.
  ObjectReader(const JsonValue& value, const JsonPath& path, ErrorList& errors,
               std::span<const std::string_view> keys);
  ObjectReader(const JsonValue& value, const JsonPath& path, ErrorList& errors,
               std::initializer_list<std::string_view> keys)
      : ObjectReader(value, path, errors, std::span(keys.begin(), keys.size())) {}

  // Return the member, or null. require() adds an error if an object lacks it.
  const JsonValue* find(std::string_view key) const { return value_.find(key); }
  const JsonValue* require(std::string_view key) const;

  // Return the member's value. Without a fallback the key is required.
  std::int64_t integer(std::string_view key, IntegerRange range,
                       std::optional<std::int64_t> fallback = std::nullopt) const;
  double number(std::string_view key, NumberRange range,
                std::optional<double> fallback = std::nullopt) const;
  bool boolean(std::string_view key, bool fallback) const;
  std::string text(std::string_view key,
                   const std::optional<std::string>& fallback = std::nullopt) const;

  // Returns the index of the text in `names`; nullopt after an E504.
  std::optional<std::size_t> one_of(
      std::string_view key, std::span<const std::string_view> names,
      const std::optional<std::string>& fallback = std::nullopt) const;

  // Returns the array under a required key, or null after an error.
  const JsonValue::Array* array(std::string_view key) const;

  // Calls read(value, path) for every element of the array under a required key.
  template <class Read>
  void each(std::string_view key, Read read) const {
    const JsonValue::Array* elements = array(key);
    if (elements == nullptr) return;
    const JsonPath where = at(key);
    std::int64_t index = 0;
    for (const JsonValue& element : *elements) read(element, where.index(index++));
  }

  JsonPath at(std::string_view key) const { return path_.key(key); }
  ErrorList& errors() const { return errors_; }

 private:
  const JsonValue& value_;
  const JsonPath& path_;
  ErrorList& errors_;
};

// Checks format, version and problem of a document. `format` is the format that its reader expects,
// and `newest` the newest version that the reader accepts. Adds E207, E208 or E209 and returns
// false if the document is of another kind; its keys are then not checked.
bool check_head(const ObjectReader& document, std::string_view format, std::string_view problem,
                std::int64_t newest = 1);

// The plan that a document is, or that a stowage/outcome holds under "plan". An outcome without a
// plan gives null and adds an E211. `root` must outlive the place.
struct PlanPlace {
  const JsonValue* plan = nullptr;
  JsonPath path;
};
PlanPlace plan_in(const JsonValue& document, const JsonPath& root, ErrorList& errors);

// Returns ", did you mean \"memory_mib\"?" for the closest of `known`, or "" if none is close.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> known);

// Reads a whole document. Returns the result of read(JSON value, errors), or all errors.
template <class Read>
auto read_document(std::string_view text, Read read)
    -> Result<std::invoke_result_t<Read, const JsonValue&, ErrorList&>> {
  ErrorList errors;
  std::invoke_result_t<Read, const JsonValue&, ErrorList&> made{};
  if (const std::optional<JsonValue> document = parse_json(text, errors)) {
    made = read(*document, errors);
  }
  if (!errors.empty()) return std::move(errors).take();
  return made;
}

}  // namespace stowage
