// The best verified plan and the best bound of one solve, and the history of their improvements.
//
// A plan becomes the incumbent only after the verifier has accepted it. A rejected candidate is
// only recorded with its violations. A bound above a verified objective is a false proof and is
// refused. A second criterion may choose among the plans of nearly the best objective. Each family
// compiles its own instantiation in its incumbent.cc.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "instances/budget.h"
#include "instances/families.h"
#include "instances/proof.h"
#include "solvers/outcome.h"
#include "solvers/solve.h"

namespace stowage {

// The relative gap at which a plan counts as optimal: times are rounded, integers are not.
template <class InstanceT>
double proof_gap(const InstanceT& instance) {
  return unit_of(instance).integral ? 0 : kOptimalityGap;
}

// The criterion that chooses the plan of the outcome, if it is another one than the objective, for
// example the end of a simulated schedule.
template <class PlanT>
struct SecondCriterion {
  // Relative. Only plans whose objective is at most this much above the best one, when they are
  // submitted, are candidates. If it is 0, a plan of a lower objective replaces all candidates.
  double tolerance = 0;
  // Puts the plan into its final form and returns its value. Less is better.
  std::function<double(PlanT&)> value;
  bool changes = true;  // whether value() may change the plan, which is then verified again
};

template <class InstanceT>
class Incumbent {
 public:
  using PlanT = typename PlanOf<InstanceT>::type;

  // `instance` and `budget` must outlive the Incumbent.
  Incumbent(const InstanceT& instance, const Budget& budget, Progress progress)
      : instance_(instance), budget_(budget), progress_(progress) {}

  // Lets conclude() return the candidate of the least value. plan(), proven() and within() remain
  // those of the least objective, so that the search is the same without the criterion. With a
  // tolerance no candidate is forgotten: a search that goes on for longer ends with the same value
  // or a lower one. Must be called before the first plan.
  void choose_by(SecondCriterion<PlanT> criterion) { criterion_ = std::move(criterion); }

  // Returns true if a plan of this objective would be a candidate for the second criterion.
  bool is_candidate(double objective) const {
    return criterion_ && plan_ && objective <= (1 + criterion_->tolerance) * objective_of(*plan_);
  }

  // Keeps `plan` if it verifies and has a lower objective than the best plan. Returns true if it
  // was kept. `plan` needs its decisions and derived figures. Name, hash and bound are set at the
  // end. `source` is as in Improvement. Throws std::domain_error if the objective is infinite or
  // NaN and the plan is no start: the search that made the plan must not continue.
  bool offer(PlanT plan, char source, const std::string& by);

  // Adds the bound, or raises the bound of the same name. Returns false if it contradicts the
  // incumbent by more than proof_gap(): then the proof is wrong. Throws std::domain_error if the
  // bound is NaN, or infinite while no plan is known.
  bool raise_bound(const NamedBound& bound);

  // Appends a sentence to Outcome::detail.
  void remark(const std::string& sentence);

  // Submits the start plan if it was made for this instance. Otherwise appends a remark.
  void offer_start(const PlanT& plan);

  const std::optional<PlanT>& plan() const { return plan_; }
  double bound() const { return bound_.value; }
  bool proven() const;            // objective == bound to proof_gap()
  bool within(double gap) const;  // the gap is at most `gap`

  // Returns the present state without status: plan (hash, bound and bound_by filled in), bounds and
  // improvements.
  Outcome report() const;

  // Returns the report with status, reason and detail, and moves the plan into it. `ended` is the
  // reason why the work ended. If the budget is exhausted, that is the reason instead, unless the
  // requested gap was reached. If the second criterion chose another plan than plan(), that plan,
  // its objective and its gap are reported, and the last improvement has the source C.
  Outcome conclude(StoppedBy ended) &&;

 private:
  // The candidate of the least value so far.
  struct Chosen {
    PlanT plan;
    double value = 0;
    std::string by;
  };

  void consider(PlanT plan, const std::string& by);
  void adopt_choice();
  void tell(char source, const std::string& by);
  Outcome report_with(std::optional<PlanT> plan) const;

  const InstanceT& instance_;
  const Budget& budget_;
  Progress progress_;
  std::optional<PlanT> plan_;
  std::string found_by_;
  std::optional<SecondCriterion<PlanT>> criterion_;
  std::optional<Chosen> chosen_;
  NamedBound bound_{.name = "none"};
  std::vector<NamedBound> bounds_;
  std::vector<Improvement> improvements_;
  std::vector<Violation> violations_;
  std::string detail_;
};

}  // namespace stowage
