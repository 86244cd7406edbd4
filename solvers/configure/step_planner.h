// Plans steps for competing configurations: several steps at a time, and in the same order for all
// configurations.
//
//   const StepPlanner planner(instance.name, steps, options.step_method, 2, tell);
//   planner.plan_up_to(runners, 4);   // each then has four planned steps, or `why_not`
//
// The plans do not depend on the number of threads. A call ends with its last plan, so callers
// check limits between calls.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "instances/units.h"
#include "solvers/configure/configuration.h"
#include "solvers/configure/handover.h"

namespace stowage {

// One configuration of the race.
struct Runner {
  RankedConfiguration ranked;  // its steps in the planner's order
  std::unique_ptr<Handover> handover;
  int raises = 0;

  // Requires at least one step, and `steps` planned steps.
  Ms mean_of(std::size_t steps) const;
};

class StepPlanner {
 public:
  // All arguments but `threads` are kept by reference.
  StepPlanner(const std::string& name, const std::vector<std::vector<Tokens>>& steps,
              const std::string& method, int threads, const ConfigureProgress& progress);

  // Returns the planning order of the steps: one of middling weight, the heaviest, and then steps
  // such that a few of them represent the mean.
  const std::vector<std::size_t>& order() const { return order_; }

  // Plans for each runner its missing steps, up to `steps`. If a step has no plan, sets `why_not`
  // and keeps no step after it. Requires that `why_not` is empty.
  void plan_up_to(const std::vector<Runner*>& runners, std::size_t steps) const;

 private:
  const std::string& name_;
  const std::vector<std::vector<Tokens>>& steps_;
  const std::string& method_;
  const int threads_;
  const ConfigureProgress& progress_;
  const std::vector<std::size_t> order_;
};

}  // namespace stowage
