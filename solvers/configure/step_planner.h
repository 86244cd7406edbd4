// The plans of steps for configurations that race against each other: several steps at a time, and
// of each configuration in one order, the same for all.
//
//   const StepPlanner planner(instance.name, steps, options.step_method, 2, tell);
//   planner.plan_up_to(runners, 4);   // each has four steps planned then, or says why not
//
// The plans do not depend on the number of threads. Nothing ends a call but its last plan: limits
// are for the caller to look at in between.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "instances/units.h"
#include "solvers/configure/configuration.h"
#include "solvers/configure/handover.h"

namespace stowage {

// One configuration on its way.
struct Runner {
  RankedConfiguration ranked;  // its steps in the planner's order
  std::unique_ptr<Handover> handover;
  int raises = 0;

  // Requires so many steps with plans, and one at least.
  Ms mean_of(std::size_t steps) const;
};

class StepPlanner {
 public:
  // All are kept by reference, but the number of threads.
  StepPlanner(const std::string& name, const std::vector<std::vector<Tokens>>& steps,
              const std::string& method, int threads, const ConfigureProgress& progress);

  // Which step is planned first, second and so on: that of middling weight, the heaviest, and then
  // such that few of them say much of a mean.
  const std::vector<std::size_t>& order() const { return order_; }

  // Plans the steps that each of them has not, up to so many. Of one that has no plan for a step,
  // `why_not` says so, and the steps after it are not kept. Requires that `why_not` is empty.
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
