// Reading answers of our own commands again: the members of interest, and all others passed over,
// so that an answer may gain keys. (Instances and plans are read strictly; see
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
  // All three must outlive the reader.
  AnswerReader(const JsonValue& value, const JsonPath& path, ErrorList& errors)
      : value_(value), path_(path), errors_(errors) {}

  // Each adds an E203 for a member of another type. Missing members are empty; so is null for a
  // number.
  std::string text(std::string_view key) const;
  std::optional<double> number(std::string_view key) const;
  bool flag(std::string_view key) const;
  void each(std::string_view key, const std::function<void(const AnswerReader&)>& read) const;

  // Adds an E207 or E209 unless format or problem are these.
  void expect(std::string_view format, std::string_view problem) const;

 private:
  const JsonValue& value_;
  const JsonPath& path_;
  ErrorList& errors_;
};

}  // namespace stowage
