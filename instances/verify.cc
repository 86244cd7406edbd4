#include "instances/verify.h"

#include <string>
#include <utility>

namespace stowage {

std::vector<Violation> verify(const Instance& instance, const Plan& plan) {
  if (instance.index() != plan.index()) {
    return {{.rule = "problem",
             .where = "/problem",
             .have = std::string(family_name(plan)),
             .need = std::string(family_name(instance)) + " like the instance's"}};
  }
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
