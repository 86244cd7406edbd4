// The rules that a layout breaks.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "instances/layout/instance.h"
#include "instances/layout/plan.h"
#include "instances/violation.h"

namespace stowage::layout_verify_test {

inline std::set<std::string> broken_rules(const std::vector<Violation>& violations) {
  std::set<std::string> rules;
  for (const Violation& violation : violations) rules.insert(violation.rule);
  return rules;
}

inline std::string all_of(const std::vector<Violation>& violations) {
  std::string lines;
  for (const Violation& violation : violations) lines += to_string(violation) + '\n';
  return lines;
}

using I = LayoutInstance;

using P = LayoutPlan;

}  // namespace stowage::layout_verify_test
