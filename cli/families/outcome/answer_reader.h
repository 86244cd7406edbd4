// Reads answers of stowage's commands. The reader ignores members that it does not need, so that
// later versions may add keys. (Instances and plans are read strictly; see
// instances/json/reader.h.)
//
//   const AnswerReader method(value, path, errors);
//   const std::string name = method.text("method");
//   const std::optional<double> seconds = method.number("seconds");
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "instances/json/reader.h"

namespace stowage {

class AnswerReader {
 public:
  // All three arguments must outlive the reader.
  AnswerReader(const JsonValue& value, const JsonPath& path, ErrorList& errors)
      : value_(value), path_(path), errors_(errors) {}

  // Return the member's value; a value of another type adds E203. A missing member gives an empty
  // value, and so does null for a number.
  std::string text(std::string_view key) const;
  std::optional<double> number(std::string_view key) const;
  bool flag(std::string_view key) const;
  void each(std::string_view key, const std::function<void(const AnswerReader&)>& read) const;

  // Adds E207 for another format or E209 for another problem.
  void expect(std::string_view format, std::string_view problem) const;

 private:
  const JsonValue& value_;
  const JsonPath& path_;
  ErrorList& errors_;
};

}  // namespace stowage
