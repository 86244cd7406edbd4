// A parsed JSON document, and its strict parser.
//
//   ErrorList errors;
//   std::optional<JsonValue> document = parse_json(R"({"a": [1, 2]})", errors);
//
// The parser is stricter than the library that it uses: duplicate keys, a byte order mark, bytes
// that are not UTF-8, zero bytes after the document and nesting beyond kMaxDepth are errors.
// Members keep the order of the file. Integers and fractions stay apart: 3 is an integer, 3.0 and
// 3e0 are not. An integer that leaves the 64-bit range becomes a fraction, so that no reader takes
// it for an integer. Such a fraction keeps its digits, so that an error quotes the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "instances/json/errors.h"

namespace stowage {

struct JsonMember;

// An integer that leaves the 64-bit range: the nearest double, and the digits of the document.
struct WrittenInteger {
  double value = 0;
  std::string digits;
};

class JsonValue {
 public:
  using Array = std::vector<JsonValue>;
  using Object = std::vector<JsonMember>;

  JsonValue() = default;  // null
  explicit JsonValue(bool value) : data_(value) {}
  explicit JsonValue(std::int64_t value) : data_(value) {}
  explicit JsonValue(double value) : data_(value) {}
  explicit JsonValue(WrittenInteger value)
      : data_(std::make_unique<WrittenInteger>(std::move(value))) {}
  explicit JsonValue(std::string value) : data_(std::make_unique<std::string>(std::move(value))) {}
  explicit JsonValue(Array value) : data_(std::make_unique<Array>(std::move(value))) {}
  explicit JsonValue(Object value) : data_(std::make_unique<Object>(std::move(value))) {}

  bool is_null() const { return data_.index() == 0; }
  const bool* boolean() const { return std::get_if<bool>(&data_); }
  const std::int64_t* integer() const { return std::get_if<std::int64_t>(&data_); }
  const double* fraction() const {
    const WrittenInteger* written = beyond_integers();
    return written == nullptr ? std::get_if<double>(&data_) : &written->value;
  }
  // Returns null unless this is an integer beyond 64 bits, which is a fraction too.
  const WrittenInteger* beyond_integers() const { return pointee<WrittenInteger>(data_); }
  const std::string* string() const { return pointee<std::string>(data_); }
  const Array* array() const { return pointee<Array>(data_); }
  const Object* object() const { return pointee<Object>(data_); }
  Array* array() { return const_cast<Array*>(std::as_const(*this).array()); }
  Object* object() { return const_cast<Object*>(std::as_const(*this).object()); }

  // Returns the member called `key`, the first one if a document repeats it. Returns null if there
  // is no such member or this is not an object.
  const JsonValue* find(std::string_view key) const;

 private:
  using Data = std::variant<std::monostate, bool, std::int64_t, double,
                            std::unique_ptr<std::string>, std::unique_ptr<Array>,
                            std::unique_ptr<Object>, std::unique_ptr<WrittenInteger>>;
  template <class T>
  static const T* pointee(const Data& data) {
    const auto* held = std::get_if<std::unique_ptr<T>>(&data);
    return held == nullptr ? nullptr : held->get();
  }
  Data data_;
};

struct JsonMember {
  std::string key;
  JsonValue value;
};

// Returns the text for a value after "is" in an error: short, on one line, valid UTF-8.
std::string describe(const JsonValue& value);

// Parses a whole document of at most kMaxDocumentBytes bytes (document.h), whose numbers and texts
// keep kMaxNumberBytes and kMaxTextBytes. Adds errors, and returns nullopt if the text cannot be
// parsed to its end. Duplicate keys are errors too, but parsing goes on. Errors in the text point
// at LINE:COLUMN, both from 1. Columns count characters.
std::optional<JsonValue> parse_json(std::string_view text, ErrorList& errors);

// Parses like parse_json(), but keeps only those members of the outermost object that `keys` names.
// An array or object among them comes out empty. It stops as soon as all keys are found, so it is
// cheap on a document of any size.
std::optional<JsonValue> parse_json_head(std::string_view text,
                                         const std::vector<std::string_view>& keys,
                                         ErrorList& errors);

}  // namespace stowage
