#include "cli/families/outcome/check_outcome.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include "cli/families/each.h"
#include "cli/families/families.h"
#include "cli/families/outcome/layout_claim.h"
#include "cli/families/outcome/stated_outcome.h"
#include "instances/json/text.h"
#include "instances/numeric/numbers.h"
#include "instances/verify.h"

namespace stowage {
namespace {

// Tolerance for numbers, since other tools may have rounded them; integers must be exact.
constexpr double kBoundRounding = 1e-9;

// Returns the bound that the certificate proves. For an invalid certificate, appends violations and
// returns nullopt.
std::optional<NamedBound> verify_certificate(const Instance& instance,
                                             const Certificate& certificate,
                                             std::vector<Violation>& violations) {
  CheckedCertificate checked = check_certificate(instance, certificate);
  if (!checked.violations.empty()) {
    std::ranges::move(checked.violations, std::back_inserter(violations));
    return std::nullopt;
  }
  return std::visit(
      [&](const auto& its) -> std::optional<NamedBound> {
        if constexpr (requires { bound_name_of(its); }) {
          return NamedBound{bound_name_of(its), checked.bound};
        }
        return std::nullopt;
      },
      certificate.any());
}

// Proves a bound without a certificate by enumeration if the instance is small enough. The returned
// bound is at most `claimed`.
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

// Appends the reasons why the certificate does not prove that no plan fits in the capacity. A
// certificate that the reason does not name must be valid too.
void judge_certificate(const InfeasibleAnswer& answer, const InfeasibilityProof& why,
                       std::vector<Violation>& violations) {
  std::optional<NamedBound> proven;
  if (answer.certificate) {
    proven = verify_certificate(answer.instance, *answer.certificate, violations);
  }
  if (why.by != kByCertificate) return;
  const auto broken = [&](const char* rule, const char* where, std::string have, std::string need) {
    violations.push_back(
        {rule, std::string("/infeasibility") + where, std::move(have), std::move(need)});
  };
  if (!why.witnesses.empty() || why.step) {
    broken(kInfeasibilityWitness, "/witnesses", "some", "none: the certificate is all");
  }
  std::optional<Bytes> most;
  if (const auto* graph = std::get_if<OrderInstance>(&answer.instance)) most = graph->capacity;
  if (!most || !answer.certificate) {
    broken(kInfeasibilityBy, "/by", in_quotes(why.by),
           "another one: there is no " + std::string(most ? "certificate" : "capacity"));
  } else if (!proven || proven->value <= static_cast<double>(*most)) {
    broken(kInfeasibility, "/by", (proven ? shortest(proven->value) : "no") + " bytes proven",
           "more than the capacity, " + std::to_string(*most));
  }
}

const NamedBound* find(const std::vector<NamedBound>& bounds, const std::string& name) {
  const auto found = std::ranges::find(bounds, name, &NamedBound::name);
  return found == bounds.end() ? nullptr : &*found;
}

std::string list_of(const BoundNames& names) {
  std::string list;
  for (const std::span<const std::string_view> part :
       {names.closed, names.certified, names.searched}) {
    for (const std::string_view name : part) list += (list.empty() ? "" : ", ") + std::string(name);
  }
  return list;
}

class BoundJudge {
 public:
  explicit BoundJudge(const InstanceAndPlan& both)
      : both_(both),
        unit_(objective_unit(both.instance)),
        names_(bound_names(both.instance)),
        closed_(closed_form_bounds(both.instance)) {}

  CheckedOutcome run() && {
    CheckedOutcome judgement{.violations = verify(both_.instance, both_.plan)};
    for (const NamedBound& bound : closed_) {
      if (!judgement.proven || bound.value > judgement.proven->value) judgement.proven = bound;
    }
    if (!foreign(judgement.violations)) judge_bounds(judgement);
    if (judgement.proven && judgement.violations.empty()) {
      // Rounding may put a bound that equals the optimum slightly above it.
      const double objective = plan_objective(both_.plan);
      if (!exceeds(judgement.proven->value, objective)) {
        judgement.proven->value = std::min(judgement.proven->value, objective);
      }
    }
    if (judgement.proven) {
      judgement.shown.proven = {judgement.proven->value, judgement.proven->name};
    }
    if (exceeds(plan_bound(both_.plan), value_of(judgement.proven))) {
      judgement.shown.claimed = {plan_bound(both_.plan), plan_bound_by(both_.plan)};
    }
    return judgement;
  }

 private:
  bool exceeds(double claimed, double proven) const {
    return claimed > proven * (1 + (unit_.integral ? 0 : kBoundRounding));
  }

  static double value_of(const std::optional<NamedBound>& bound) {
    return bound ? bound->value : 0;
  }

  // Returns whether the plan belongs to another instance; other violations are then meaningless and
  // many.
  bool foreign(const std::vector<Violation>& violations) const {
    const std::string& hash = std::visit(
        [](const auto& plan) -> auto& { return plan.instance_hash; }, both_.plan);
    return violations.size() == 1 && violations.front().rule == "instance_hash" &&
           hash.starts_with("fnv1a64:");
  }

  // Compares the claims of the plan and its outcome with all bounds that can be proven.
  void judge_bounds(CheckedOutcome& judgement) {
    if (judgement.violations.empty()) {
      std::ranges::move(false_parts(), std::back_inserter(judgement.violations));
    }
    if (both_.claims) {
      const bool valid = judgement.violations.empty();
      check_claims(*both_.claims, both_.plan, unit_, judgement.violations);
      const auto* graph = std::get_if<OrderInstance>(&both_.instance);
      if (valid && graph != nullptr && both_.claims->layout) {
        check_layout_claim(*both_.claims->layout, *graph, std::get<OrderPlan>(both_.plan),
                           judgement.violations);
      }
    }
    if (both_.certificate) {
      certified_ = verify_certificate(both_.instance, *both_.certificate, judgement.violations);
      if (certified_ && certified_->value > value_of(judgement.proven)) {
        judgement.proven = certified_;
      }
    }
    compare("/bound_" + std::string(unit_.name), plan_bound_by(both_.plan), plan_bound(both_.plan),
            judgement.violations);
    if (both_.claims && both_.claims->bounds) {
      for (std::size_t k = 0; k < both_.claims->bounds->size(); ++k) {
        const StatedBound& each = (*both_.claims->bounds)[k];
        compare("/bounds/" + std::to_string(k), each.name, each.value.value_or(0),
                judgement.violations);
      }
    }
    if (exceeds(plan_bound(both_.plan), value_of(judgement.proven))) try_again(judgement);
  }

  // Checks the bounds of parts of the plan, for families with such bounds.
  std::vector<Violation> false_parts() const {
    return visit_both(
        [](const auto& own, const auto& plan) -> std::vector<Violation> {
          if constexpr (requires { parts_claimed_of(own, plan); }) {
            return parts_claimed_of(own, plan);
          }
          return {};
        },
        both_.instance, both_.plan);
  }

  // If enumeration is possible, proves the plan's bound or refutes it.
  void try_again(CheckedOutcome& judgement) const {
    const double claimed = plan_bound(both_.plan);
    const std::optional<NamedBound> again = tried_again(both_.instance, claimed);
    if (!again) return;
    if (again->value > value_of(judgement.proven)) judgement.proven = again;
    if (!exceeds(claimed, again->value)) return;
    judgement.violations.push_back({"claimed_bound", "/bound_" + std::string(unit_.name),
                                    shortest(claimed) + ' ' + std::string(unit_.name),
                                    "at most the optimum, " + shortest(again->value)});
  }

  // A search may have proven more than its certificate. Such a bound has a name in `searched`, and
  // only the certificate's part counts as proven.
  bool is_searched(const std::string& name) const {
    return std::ranges::find(names_.searched, name) != names_.searched.end();
  }

  // Appends a violation for a bound with an unknown name, or with a value above the provable value
  // of that name.
  void compare(const std::string& where, const std::string& name, double claimed,
               std::vector<Violation>& violations) const {
    const auto broken = [&](std::string have, std::string need) {
      violations.push_back({"claimed_bound", where, std::move(have), std::move(need)});
    };
    const bool nobody = name.empty() || name == "none";
    if (!names_.knows(name) && (claimed > 0 || !nobody)) {
      return broken("a bound by " + in_quotes(name), "one of " + list_of(names_));
    }
    std::optional<double> proof;
    if (const NamedBound* computed = find(closed_, name)) {
      proof = computed->value;
    } else if (std::ranges::find(names_.closed, name) != names_.closed.end()) {
      proof = 0;  // this bound has no value for the instance
    } else if (certified_ && certified_->name == name && !is_searched(name)) {
      proof = certified_->value;
    }
    if (!proof || !exceeds(claimed, *proof)) return;
    broken(shortest(claimed) + ' ' + std::string(unit_.name) + " by " + name,
           "at most " + shortest(*proof) + ", which " + name + " proves");
  }

  const InstanceAndPlan& both_;
  Unit unit_;
  BoundNames names_;
  std::vector<NamedBound> closed_;
  std::optional<NamedBound> certified_;  // proven by the certificate, if there is one
};

}  // namespace

CheckedOutcome judge(const InstanceAndPlan& both) { return BoundJudge(both).run(); }

CheckedInfeasibility judge(const InfeasibleAnswer& answer) {
  CheckedInfeasibility judgement;
  const StatedOutcome& claims = answer.claims;
  check_infeasible_claims(claims, objective_unit(answer.instance), judgement.violations);
  InfeasibilityProof proof;
  if (claims.infeasibility) {
    proof = *claims.infeasibility;
  } else if (!claims.unplaceable.empty()) {
    proof = {.by = "sequences", .witnesses = claims.unplaceable};
  }
  const BoundNames names = bound_names(answer.instance);
  const std::string by = claims.bound_by.value_or("");
  if (!by.empty() && by != "none" && by != "unplaceable" && !names.knows(by)) {
    judgement.violations.push_back(
        {"claimed_bound", "/bound_by", in_quotes(by), "one of " + list_of(names)});
  }
  judge_certificate(answer, proof, judgement.violations);
  if (proof.by != kByCertificate) {
    std::vector<Violation> wrong = check_infeasibility(answer.instance, proof);
    std::ranges::move(wrong, std::back_inserter(judgement.violations));
  }
  judgement.by = proof.by;
  judgement.proven = judgement.violations.empty() && proof.by != "none";
  return judgement;
}

}  // namespace stowage
