// Reads the JSON answer of `stowage compare`, for a report.
//
//   Result<Comparison> comparison = read_comparison(text, instance);
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "instances/families.h"
#include "instances/result.h"

namespace stowage {

struct ComparedMethod {
  std::string method;
  std::string kind;  // "ours" or "baseline"
  std::string status;
  std::optional<double> objective;
  std::optional<double> seconds;  // absent with --timeless
  bool best = false;
};

struct Comparison {
  double bound = 0;  // best bound of all methods
  std::string bound_by;
  std::vector<ComparedMethod> methods;
};

// Errors: E207 for a document that is not a stowage/comparison, E209 for one of another problem or
// instance, and errors of types and ranges.
Result<Comparison> read_comparison(std::string_view text, const Instance& instance);

}  // namespace stowage
