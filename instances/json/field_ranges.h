// Checks values in memory of types with fields() as a reader would, without writing them. Not
// installed.
//
//   if (in_ranges(instance.constraints)) ...
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "instances/json/fields.h"

namespace stowage {

// Returns whether every member that would be written is in the range that fields() gives it, and
// all checks of fields() pass. Members are numbers, bools, enums by their names, types with
// fields(), and std::optional of these.
template <class T>
bool in_ranges(const T& value);

class FieldRanges : public FieldVisitor<FieldRanges> {
 public:
  bool hold() const { return hold_; }

  template <class T>
  void member(std::string_view, const T& value, RangeOf<T> range, Presence presence) {
    if (presence.written) hold_ = hold_ && within(value, range);
  }
  template <class Enum>
  bool choice(std::string_view, const Enum& value, std::span<const std::string_view> names,
              std::optional<bool> omitted = {}) {
    if (!omitted.value_or(false)) hold_ = hold_ && static_cast<std::size_t>(value) < names.size();
    return hold_;
  }
  template <class T, class Check>
  void check(const T& value, Check complain) {
    if (!hold_) return;  // a check may rely on the members before it
    ErrorList errors;
    const JsonValue nothing{JsonValue::Object()};
    const JsonPath nowhere;
    complain(value, ObjectReader(nothing, nowhere, errors, {}));
    hold_ = errors.empty();
  }

 private:
  template <class T>
  static bool within(const T& value, RangeOf<T> range) {
    if constexpr (std::same_as<T, bool>) {
      return true;
    } else if constexpr (Whole<T>) {
      const auto number = static_cast<std::int64_t>(value);
      return number >= range.least && number <= range.most;
    } else if constexpr (std::same_as<T, double>) {  // NaN fails both comparisons
      return value >= range.least && value <= range.most && !(range.above && value == range.least);
    } else if constexpr (kIsOptional<T>) {
      return !value || within(*value, range);
    } else {
      return in_ranges(value);
    }
  }

  bool hold_ = true;
};

template <class T>
bool in_ranges(const T& value) {
  FieldRanges ranges;
  fields(ranges, value);
  return ranges.hold();
}

}  // namespace stowage
