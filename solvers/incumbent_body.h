// The implementation of incumbent.h. Only incumbent.cc of each family includes it.
#pragma once

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

#include "instances/numeric/numbers.h"
#include "instances/numeric/tolerances.h"
#include "instances/violation.h"
#include "solvers/incumbent.h"

namespace stowage {

template <class InstanceT>
bool Incumbent<InstanceT>::offer(PlanT plan, char source, const std::string& by) {
  state_bound(plan, 0, "");
  if (source != 'S' && !std::isfinite(objective_of(plan))) {
    throw std::domain_error(by + " made a plan whose objective is " + shortest(objective_of(plan)) +
                            ", which is no finite number");
  }
  if (std::vector<Violation> violations = verify(instance_, plan); !violations.empty()) {
    if (source == 'S') {
      remark("the start plan is not valid and is ignored: " + to_string(violations.front()));
    } else {
      remark(by + " made a plan that fails verification: " + to_string(violations.front()));
      violations_ = std::move(violations);
    }
    return false;
  }
  if (plan_ && !(objective_of(plan) < objective_of(*plan_))) {
    if (criterion_) consider(std::move(plan), by);
    return false;
  }
  if (relative_gap(objective_of(plan), bound_.value) < -proof_gap(instance_)) {
    // A verified plan below a bound refutes the bound and its proof.
    remark("the bound " + bound_.name + " was refuted by a plan of " + by);
    std::erase_if(bounds_, [&](const NamedBound& b) {
      return relative_gap(objective_of(plan), b.value) < -proof_gap(instance_);
    });
    const auto best = std::ranges::max_element(bounds_, {}, &NamedBound::value);
    bound_ = best == bounds_.end() ? NamedBound{.name = "none"} : *best;
    for (Improvement& told : improvements_) told.bound = std::min(told.bound, bound_.value);
  }
  plan_ = std::move(plan);
  found_by_ = by;
  tell(source, by);
  if (criterion_ && criterion_->tolerance == 0) chosen_.reset();
  if (criterion_) consider(*plan_, by);
  return true;
}

// Requires a verified plan, and an incumbent, which may be the plan itself.
template <class InstanceT>
void Incumbent<InstanceT>::consider(PlanT plan, const std::string& by) {
  const double objective = objective_of(plan);
  if (!is_candidate(objective)) return;
  const double value = criterion_->value(plan);
  if (chosen_) {
    const double least = chosen_->value;
    const bool equal = value >= least * kPlannerFaster && value * kPlannerFaster <= least;
    if (equal ? objective >= objective_of(chosen_->plan) : value > least) return;
  }
  if (criterion_->changes && !verify(instance_, plan).empty()) return;
  chosen_ = Chosen{std::move(plan), value, by};
}

// Replaces the incumbent by the chosen plan, which may have a higher objective.
template <class InstanceT>
void Incumbent<InstanceT>::adopt_choice() {
  const bool higher = objective_of(chosen_->plan) * kPlannerFaster > objective_of(*plan_);
  const bool other = higher || chosen_->by != found_by_;
  plan_ = std::move(chosen_->plan);
  found_by_ = std::move(chosen_->by);
  if (other) tell('C', found_by_);
}

template <class InstanceT>
bool Incumbent<InstanceT>::raise_bound(const NamedBound& bound) {
  if (std::isnan(bound.value) || (bound.value == kInfinity && !plan_)) {
    throw std::domain_error("the bound " + bound.name + " is " + shortest(bound.value) +
                            ", which is no finite number");
  }
  if (plan_ && relative_gap(objective_of(*plan_), bound.value) < -proof_gap(instance_)) {
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

template <class InstanceT>
void Incumbent<InstanceT>::remark(const std::string& sentence) {
  if (!detail_.empty()) detail_ += "; ";
  detail_ += sentence;
}

template <class InstanceT>
bool Incumbent<InstanceT>::proven() const {
  return within(proof_gap(instance_));
}

template <class InstanceT>
bool Incumbent<InstanceT>::within(double gap) const {
  return plan_ && relative_gap(objective_of(*plan_), bound_.value) <= gap;
}

template <class InstanceT>
void Incumbent<InstanceT>::tell(char source, const std::string& by) {
  Improvement improvement{.seconds = budget_.seconds(),
                          .bound = bound_.value,
                          .nodes = budget_.nodes(),
                          .source = source,
                          .by = by};
  if (plan_) improvement.objective = objective_of(*plan_);
  improvements_.push_back(improvement);
  if (progress_) progress_(improvements_.back());
}

template <class InstanceT>
Outcome Incumbent<InstanceT>::report() const {
  return report_with(plan_);
}

template <class InstanceT>
Outcome Incumbent<InstanceT>::report_with(std::optional<PlanT> plan) const {
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
  if (plan) {
    // Rounding may raise a bound that equals the optimum slightly above it.
    outcome.bound = std::min(outcome.bound, objective_of(*plan));
    state_bound(*plan, outcome.bound, outcome.bound_by);
    plan->name = instance_.name;  // a start may have another name
    plan->instance_hash = instance_hash(instance_);
    outcome.objective = objective_of(*plan);
    outcome.plan = *std::move(plan);
  }
  return outcome;
}

template <class InstanceT>
void Incumbent<InstanceT>::offer_start(const PlanT& plan) {
  if (plan.instance_hash != instance_hash(instance_)) {
    remark("the start plan was made for another instance and is ignored");
  } else {
    offer(plan, 'S', "start");
  }
}

template <class InstanceT>
Outcome Incumbent<InstanceT>::conclude(StoppedBy ended) && {
  if (chosen_) adopt_choice();
  const bool is_proven = proven();
  Outcome outcome = report_with(std::move(plan_));
  outcome.stopped_by = stopped_by(budget_.stop_reason(), ended);
  if (!outcome.plan) {
    const bool failed = ended == StoppedBy::error || !outcome.violations.empty();
    outcome.status = failed ? Status::error : Status::unknown;
    return outcome;
  }
  if (is_proven) {
    outcome.status = Status::optimal;
    outcome.stopped_by = StoppedBy::proof;
    return outcome;
  }
  outcome.status = Status::feasible;
  if (ended == StoppedBy::gap) outcome.stopped_by = StoppedBy::gap;
  // A backend's status "optimal" proves nothing if the verified gap is larger.
  if (outcome.stopped_by == StoppedBy::proof) outcome.stopped_by = StoppedBy::heuristic_end;
  return outcome;
}

}  // namespace stowage
