#include "cli/families/judge.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "cli/families/claims.h"
#include "cli/families/each.h"
#include "cli/families/families.h"
#include "instances/verify.h"
#include "solvers/outcome.h"

namespace stowage {
namespace {

// Appends what is wrong with the certificate; otherwise returns the bound it proves. Requires an
// instance of its family.
std::optional<NamedBound> verify_certificate(const Instance& instance,
                                             const Certificate& certificate,
                                             std::vector<Violation>& violations) {
  const auto check = [&](const auto& own, const auto& its) -> std::optional<NamedBound> {
    if constexpr (requires { check_certificate(own, its); }) {
      auto checked = check_certificate(own, its);
      if (checked.violations.empty()) return NamedBound{bound_name_of(its), checked.bound_ms};
      std::ranges::move(checked.violations, std::back_inserter(violations));
    }
    return std::nullopt;
  };
  return visit_both(check, instance, certificate);
}

// A bound that leaves no certificate is proven again where the instance is small enough to try
// everything. What is proven then is at most `claimed`.
std::optional<NamedBound> tried_again(const Instance& instance, double claimed) {
  return std::visit(
      [&](const auto& own) -> std::optional<NamedBound> {
        if constexpr (requires { tried_again_of(own, claimed); }) {
          return tried_again_of(own, claimed);
        }
        return std::nullopt;
      },
      instance);
}

}  // namespace

Judgement judge(const InstanceAndPlan& both) {
  Judgement judgement{.violations = verify(both.instance, both.plan)};
  if (both.claims) {
    check_claims(*both.claims, both.plan, objective_unit(both.instance), judgement.violations);
  }
  judgement.proven = closed_form_bound(both.instance);
  if (both.certificate) {
    const auto certified =
        verify_certificate(both.instance, *both.certificate, judgement.violations);
    if (certified && (!judgement.proven || certified->value > judgement.proven->value)) {
      judgement.proven = certified;
    }
  }
  const auto proves_more = [&](const std::optional<NamedBound>& bound) {
    return bound && (!judgement.proven || bound->value > judgement.proven->value);
  };
  if (const NamedBound claimed{"", plan_bound(both.plan)}; proves_more(claimed)) {
    const auto again = tried_again(both.instance, claimed.value);
    if (proves_more(again)) judgement.proven = again;
  }
  const double proven = judgement.proven ? judgement.proven->value : 0;
  if (judgement.proven) judgement.shown.proven = {proven, judgement.proven->name};
  if (plan_bound(both.plan) > proven * (1 + kOptimalityGap)) {
    judgement.shown.claimed = {plan_bound(both.plan), plan_bound_by(both.plan)};
  }
  return judgement;
}

}  // namespace stowage
