// The independent verifier: is this plan valid for this instance, and is what it says true?
//
// Written from instances/README.md. It shares no code with a solver, a heuristic or the cost model
// beyond units.h, so that a mistake there cannot hide here. Runs in O(K log K).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "instances/scatter.h"
#include "instances/scatter_plan.h"

namespace stowage {

// One broken rule. `rule` is one of verify_rules(); `where` is a JSON pointer into the plan;
// `have` and `need` say what stands there and what the rule asks for, with units.
struct Violation {
  std::string rule;
  std::string where;
  std::string have;
  std::string need;

  bool operator==(const Violation&) const = default;
};

// "capacity at /micro_batches/0/groups/1: has 70000 tokens, needs at most 51592 tokens"
std::string to_string(const Violation& violation);

// Names of all rules, in the order in which they are documented in instances/README.md.
std::vector<std::string_view> scatter_verify_rules();

// Every violation found, empty for a valid plan. Times agree when they differ by at most
// 1e-9 relative; the bound may exceed the objective by at most 1e-6 relative.
std::vector<Violation> verify(const ScatterInstance& instance, const ScatterPlan& plan);

}  // namespace stowage
