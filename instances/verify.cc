#include "instances/verify.h"

#include <cstddef>
#include <string>
#include <utility>

#include "instances/check.h"
#include "instances/families.h"
#include "instances/result.h"

namespace stowage {
namespace {

// Returns the errors of check(): the rules are defined for valid instances only.
std::vector<Violation> broken_rules_of(const InstanceView& instance) {
  std::vector<Violation> violations;
  for (const InputError& error : check(instance)) {
    violations.push_back({.rule = "instance",
                          .where = "",
                          .have = "an instance with " + to_string(error),
                          .need = "an instance that check() passes"});
  }
  return violations;
}

// Returns the violation of a plan or certificate of the family with that index.
std::vector<Violation> other_family(const InstanceView& instance, std::size_t index) {
  return {{.rule = "problem",
           .where = "/problem",
           .have = std::string(Families::names[index]),
           .need = std::string(family_name(instance)) + " like the instance's"}};
}

// Returns the proven bound, in the unit of the family.
template <class Check>
double proven_by(const Check& check) {
  if constexpr (requires { check.bound_ms; }) {
    return check.bound_ms;
  } else {
    return static_cast<double>(check.bound_bytes);
  }
}

}  // namespace

std::vector<Violation> verify(const InstanceView& instance, const PlanView& plan) {
  if (instance.index() != plan.index()) return other_family(instance, plan.index());
  if (auto broken = broken_rules_of(instance); !broken.empty()) return broken;
  return visit_both(
      [](const auto& own, const auto& its) {
        std::vector<Violation> violations = verify_instance_hash(its, instance_hash(own));
        // If the plan is of another instance, the other rules would report much and mean nothing. A
        // plan that names no instance is checked as if it were of this one.
        const bool foreign = !violations.empty() && its.instance_hash.starts_with("fnv1a64:");
        if (foreign) return violations;
        for (Violation& v : verify(own, its)) violations.push_back(std::move(v));
        return violations;
      },
      instance, plan);
}

std::vector<Violation> check_infeasibility(const InstanceView& instance,
                                           const InfeasibilityProof& proof) {
  if (auto broken = broken_rules_of(instance); !broken.empty()) return broken;
  return instance.visit([&](const auto& own) { return check_infeasibility(own, proof); });
}

CheckedCertificate check_certificate(const InstanceView& instance, const Certificate& certificate) {
  const Certificate::Any& any = certificate.any();
  if (instance.index() != any.index()) return {other_family(instance, any.index())};
  if (auto broken = broken_rules_of(instance); !broken.empty()) return {std::move(broken)};
  return visit_both(
      [](const auto& own, const auto& its) -> CheckedCertificate {
        if constexpr (requires { check_certificate(own, its); }) {
          auto checked = check_certificate(own, its);
          const double bound = checked.violations.empty() ? proven_by(checked) : 0;
          return {std::move(checked.violations), bound};
        }
        return {};
      },
      instance, any);
}

}  // namespace stowage
