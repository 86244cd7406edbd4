// What `stowage compare` has printed, read again for a report.
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
  double bound = 0;  // the best that any method proved
  std::string bound_by;
  std::vector<ComparedMethod> methods;
};

// Errors: a document that is no stowage/comparison (E207) or one of another problem or instance
// (E209); types and ranges.
Result<Comparison> read_comparison(std::string_view text, const Instance& instance);

}  // namespace stowage
