// The best verified plan and the best bound of one solve, and the story of how they came.
//
// Nothing becomes an incumbent without the verifier's word. A candidate that fails is remembered
// with its violations and costs nothing else; a bound above a verified objective is a false proof
// and is refused. Each family compiles its own in its incumbent.cc.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "instances/budget.h"
#include "instances/families.h"
#include "instances/proof.h"
#include "solvers/outcome.h"
#include "solvers/solve.h"

namespace stowage {

// The relative gap at which a plan counts as proven: times are rounded, integers are not.
template <class InstanceT>
double proof_gap(const InstanceT& instance) {
  return unit_of(instance).integral ? 0 : kOptimalityGap;
}

template <class InstanceT>
class Incumbent {
 public:
  using PlanT = typename PlanOf<InstanceT>::type;

  // `instance` and `budget` must outlive the Incumbent.
  Incumbent(const InstanceT& instance, const Budget& budget, Progress progress)
      : instance_(instance), budget_(budget), progress_(progress) {}

  // Keeps `plan` if it verifies and has a lower objective than the best. True if it was kept.
  // `plan` needs its decisions and derived figures; name, hash and bound are set at the end.
  // `source` as in Improvement. Throws std::domain_error if the objective of a plan that is no
  // start is infinite or not a number: the search that made it must not go on.
  bool offer(PlanT plan, char source, const std::string& by);

  // Keeps the bound, or raises the one of that name. False if it contradicts the incumbent by more
  // than proof_gap(): then whoever proved it is wrong. Throws std::domain_error if
  // the bound is not a number, or infinite while no plan is known.
  bool raise_bound(const NamedBound& bound);

  // A sentence for Outcome::detail.
  void remark(const std::string& sentence);

  // Offers the plan to begin with, if it was made for this instance; says so if not.
  void offer_start(const PlanT& plan);

  const std::optional<PlanT>& plan() const { return plan_; }
  double bound() const { return bound_.value; }
  bool proven() const;            // objective == bound to proof_gap()
  bool within(double gap) const;  // the gap is at most `gap`

  // What is known now, without status: plan (hash, bound and bound_by filled in), bounds,
  // improvements.
  Outcome report() const;

  // The report with what may be said of it, and the plan itself instead of a copy. `ended` is why
  // the work ended; if the budget is exhausted that is the reason, unless a gap that was asked for
  // had been reached.
  Outcome conclude(StoppedBy ended) &&;

 private:
  void tell(char source, const std::string& by);
  Outcome report_with(std::optional<PlanT> plan) const;

  const InstanceT& instance_;
  const Budget& budget_;
  Progress progress_;
  std::optional<PlanT> plan_;
  std::string found_by_;
  NamedBound bound_{.name = "none"};
  std::vector<NamedBound> bounds_;
  std::vector<Improvement> improvements_;
  std::vector<Violation> violations_;
  std::string detail_;
};

}  // namespace stowage
