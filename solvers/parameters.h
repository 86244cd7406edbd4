// Lists, errors and values of a family's parameters, made of its fields() function.
// instances/parameters.h has an example. Not installed.
#pragma once

#include <cmath>
#include <concepts>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "instances/numeric/numbers.h"
#include "instances/parameters.h"
#include "solvers/solve.h"

namespace stowage {

// Returns the parameters of struct P with their defaults.
template <class P>
std::vector<ParameterInfo> parameter_list() {
  std::vector<ParameterInfo> all;
  P defaults;
  fields(
      [&](const ParameterText& text, auto& value) {
        all.push_back({.name = std::string(text.name),
                       .unit = std::string(text.unit),
                       .value = static_cast<double>(value),
                       .least = text.least,
                       .most = text.most,
                       .integral = std::integral<std::remove_reference_t<decltype(value)>>,
                       .effect = std::string(text.effect),
                       .evidence = std::string(text.evidence)});
      },
      defaults);
  return all;
}

// Returns the error in `value` for `parameter`, or nullopt if the value is valid.
inline std::optional<std::string> parameter_error(const ParameterInfo& parameter, double value) {
  const bool whole = !parameter.integral || value == std::floor(value);
  if (value >= parameter.least && value <= parameter.most && whole) return std::nullopt;
  return std::string("must be ") + (parameter.integral ? "a whole number " : "") + "from " +
         shortest(parameter.least) + " to " + shortest(parameter.most) + ", is " + shortest(value);
}

// Returns struct P with these values, which parameter_error() must have accepted.
template <class P>
P with_values(const std::vector<ParameterValue>& values) {
  P params;
  fields(
      [&](const ParameterText& text, auto& value) {
        for (const ParameterValue& given : values) {
          if (given.name != text.name) continue;
          value = static_cast<std::remove_reference_t<decltype(value)>>(given.value);
        }
      },
      params);
  return params;
}

}  // namespace stowage
