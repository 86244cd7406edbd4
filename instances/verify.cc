#include "instances/verify.h"

#include <string>
#include <utility>

#include "instances/check.h"
#include "instances/result.h"

namespace stowage {
namespace {

// The rules are defined for sound instances only.
std::vector<Violation> broken_rules_of(const Instance& instance) {
  std::vector<Violation> violations;
  for (const InputError& error : check(instance)) {
    violations.push_back({.rule = "instance",
                          .where = "",
                          .have = "an instance with " + to_string(error),
                          .need = "an instance that check() passes"});
  }
  return violations;
}

}  // namespace

std::vector<Violation> verify(const Instance& instance, const Plan& plan) {
  if (instance.index() != plan.index()) {
    return {{.rule = "problem",
             .where = "/problem",
             .have = std::string(family_name(plan)),
             .need = std::string(family_name(instance)) + " like the instance's"}};
  }
  if (auto broken = broken_rules_of(instance); !broken.empty()) return broken;
  return visit_both(
      [](const auto& own, const auto& its) {
        std::vector<Violation> violations = verify_instance_hash(its, instance_hash(own));
        // Of a plan of another instance the rest says nothing, at great length. One that names no
        // instance is judged as if it were of this.
        const bool foreign = !violations.empty() && its.instance_hash.starts_with("fnv1a64:");
        if (foreign) return violations;
        for (Violation& v : verify(own, its)) violations.push_back(std::move(v));
        return violations;
      },
      instance, plan);
}

}  // namespace stowage
