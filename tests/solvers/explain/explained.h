// Explanations of small instances, and what the tests of each kind expect of them.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "solvers/explain/explain.h"

namespace stowage::explain_explain_test {

inline Explanation explained(const Instance& instance,
                             const std::optional<Plan>& plan = std::nullopt,
                             const std::string& method = "auto") {
  Budget budget;
  return explain(instance, plan, {.solve = {.method = method}, .seconds = 60, .nodes = 500},
                 budget);
}

inline Outcome solved(const Instance& instance) {
  Budget budget({.node_limit = 20000});
  return solve(instance, {}, budget);
}

inline std::vector<std::string> places(const std::vector<Finding>& findings) {
  std::vector<std::string> places;
  for (const Finding& finding : findings) places.push_back(finding.where);
  return places;
}

inline std::vector<std::string> remedy_places(const Explanation& explanation) {
  std::vector<std::string> places;
  for (const Remedy& remedy : explanation.remedies) places.push_back(remedy.change.where);
  return places;
}

// Expects a plan for every remedy. `weaken` makes a remedy's instance slightly less generous, which
// must make it infeasible.
inline void expect_remedies(const Explanation& explanation) {
  for (const Remedy& remedy : explanation.remedies) {
    const Outcome outcome = solved(remedy.change.instance);
    EXPECT_TRUE(outcome.plan) << remedy.change.text;
  }
}

template <class InstanceT>
const InstanceT& as(const Remedy& remedy) {
  return std::get<InstanceT>(remedy.change.instance);
}

}  // namespace stowage::explain_explain_test
