// The best verified plan and the best bound of one solve, and the story of how they came.
//
// Nothing becomes an incumbent without the verifier's word. A candidate that fails is remembered
// with its violations and costs nothing else; a bound above a verified objective is a false proof
// and is refused.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "formulations/bound.h"
#include "instances/budget.h"
#include "instances/scatter.h"
#include "instances/scatter_plan.h"
#include "solvers/outcome.h"
#include "solvers/solve.h"

namespace stowage {

class Incumbent {
 public:
  // `instance` and `budget` must outlive the Incumbent.
  Incumbent(const ScatterInstance& instance, const Budget& budget, Progress progress)
      : instance_(instance), budget_(budget), progress_(std::move(progress)) {}

  // Keeps `plan` if it verifies and is faster than the best. True if it was kept. `plan` needs its
  // decisions and derived figures; hash and bound are set at the end. `source` as in Improvement.
  bool offer(ScatterPlan plan, char source, const std::string& by);

  // Keeps the bound, or raises the one of that name. False if it contradicts the incumbent by more
  // than kOptimalityGap: then whoever proved it is wrong.
  bool raise_bound(const NamedBound& bound);

  // A sentence for Outcome::detail.
  void remark(const std::string& sentence);

  const std::optional<ScatterPlan>& plan() const { return plan_; }
  double bound() const { return bound_.value; }
  bool proven() const;            // objective == bound to kOptimalityGap
  bool within(double gap) const;  // the gap is at most `gap`

  // What is known now, without status: plan (bound and bound_by filled in), bounds, improvements.
  Outcome report() const;

 private:
  void tell(char source, const std::string& by);

  const ScatterInstance& instance_;
  const Budget& budget_;
  Progress progress_;
  std::optional<ScatterPlan> plan_;
  std::string found_by_;
  NamedBound bound_{.name = "none"};
  std::vector<NamedBound> bounds_;
  std::vector<Improvement> improvements_;
  std::vector<Violation> violations_;
  std::string detail_;
};

}  // namespace stowage
