#include "solvers/incumbent.h"

#include <algorithm>
#include <utility>

#include "instances/verify.h"

namespace stowage {

bool Incumbent::offer(ScatterPlan plan, char source, const std::string& by) {
  plan.bound_ms = 0;
  plan.bound_by.clear();
  if (std::vector<Violation> violations = verify(instance_, plan); !violations.empty()) {
    if (source == 'S') {
      remark("the start plan is not valid and is ignored: " + to_string(violations.front()));
    } else {
      remark(by + " made a plan that fails verification: " + to_string(violations.front()));
      violations_ = std::move(violations);
    }
    return false;
  }
  if (plan_ && !(plan.objective_ms < plan_->objective_ms)) return false;
  if (relative_gap(plan.objective_ms, bound_.value) < -kOptimalityGap) {
    // A verified plan below a bound refutes the bound, whoever claimed it.
    remark("the bound " + bound_.name + " was refuted by a plan of " + by);
    std::erase_if(bounds_, [&](const NamedBound& b) {
      return relative_gap(plan.objective_ms, b.value) < -kOptimalityGap;
    });
    const auto best = std::ranges::max_element(bounds_, {}, &NamedBound::value);
    bound_ = best == bounds_.end() ? NamedBound{.name = "none"} : *best;
  }
  plan_ = std::move(plan);
  found_by_ = by;
  tell(source, by);
  return true;
}

bool Incumbent::raise_bound(const NamedBound& bound) {
  if (plan_ && relative_gap(plan_->objective_ms, bound.value) < -kOptimalityGap) {
    remark(bound.name + " claims a bound above a verified plan and is ignored");
    return false;
  }
  const auto known = std::ranges::find(bounds_, bound.name, &NamedBound::name);
  if (known == bounds_.end()) {
    bounds_.push_back(bound);
  } else {
    known->value = std::max(known->value, bound.value);
  }
  if (bound.value > bound_.value) {
    bound_ = bound;
    tell('B', bound.name);
  }
  return true;
}

void Incumbent::remark(const std::string& sentence) {
  if (!detail_.empty()) detail_ += "; ";
  detail_ += sentence;
}

bool Incumbent::proven() const { return within(kOptimalityGap); }

bool Incumbent::within(double gap) const {
  return plan_ && relative_gap(plan_->objective_ms, bound_.value) <= gap;
}

void Incumbent::tell(char source, const std::string& by) {
  Improvement improvement{.seconds = budget_.seconds(),
                          .bound = bound_.value,
                          .nodes = budget_.nodes(),
                          .source = source,
                          .by = by};
  if (plan_) improvement.objective = plan_->objective_ms;
  improvements_.push_back(improvement);
  if (progress_) progress_(improvements_.back());
}

Outcome Incumbent::report() const {
  Outcome outcome;
  outcome.bound = bound_.value;
  outcome.bound_by = bound_.name;
  outcome.bounds = bounds_;
  std::ranges::stable_sort(outcome.bounds, {}, &NamedBound::value);
  outcome.found_by = found_by_;
  outcome.improvements = improvements_;
  outcome.violations = violations_;
  outcome.detail = detail_;
  outcome.seconds = budget_.seconds();
  outcome.nodes = budget_.nodes();
  if (plan_) {
    // Rounding may put a bound that equals the optimum a hair above it.
    outcome.bound = std::min(outcome.bound, plan_->objective_ms);
    ScatterPlan plan = *plan_;
    plan.bound_ms = outcome.bound;
    plan.bound_by = outcome.bound_by;
    outcome.objective = plan.objective_ms;
    outcome.plan = std::move(plan);
  }
  return outcome;
}

}  // namespace stowage
