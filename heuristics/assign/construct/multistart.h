// Multi-start planner for assign: chooses strategy, dispatch and row counts together.
//
//   std::vector<AssignWorkingPlan> drafts = plan_strategies(table, params, seed, budget);
//   if (!drafts.empty()) use(drafts.front());
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "heuristics/assign/params.h"
#include "heuristics/assign/working_plan.h"
#include "instances/budget.h"

namespace stowage {

// Effort of the search.
struct AssignEffort {
  int starts = 2;   // searched dispatches by price, besides the plain dispatch
  int steps = 400;  // steps of local search per start
  int ruins = 0;    // rounds of AssignSearch::ruin on the best start
};

// Returns the effort of the first plan and of `fast`.
inline AssignEffort quick_effort(const AssignPlanParams& params) {
  return {.starts = params.fast.starts, .steps = params.fast.steps};
}

// Returns the effort of `joint` and of the later plans of `auto`, with this number of ruins.
inline AssignEffort thorough_effort(const AssignPlanParams& params, int ruins) {
  return {.starts = params.multistart.starts, .steps = params.multistart.steps, .ruins = ruins};
}

// Returns the best plan found for one strategy. Returns nullopt if the strategy is not usable or if
// no start met the row constraints. If the budget ends early, the plan is the first start, or
// nullopt if no plan is `needed`.
std::optional<AssignWorkingPlan> plan_strategy(const AssignTable& table, int strategy,
                                               const AssignPlanParams& params,
                                               const AssignEffort& effort, std::uint64_t seed,
                                               const Budget& budget, bool needed = true);

// Plans every strategy quickly, the most promising strategy first. Returns one draft per strategy
// that could be planned, the fastest draft first. If a plan is `needed`, the plan of time limit 0
// is made first. A budget that ends early leaves this plan or a better one, and a longer limit
// never gives a slower plan.
std::vector<AssignWorkingPlan> plan_strategies(const AssignTable& table,
                                               const AssignPlanParams& params, std::uint64_t seed,
                                               const Budget& budget, bool needed = true);

// Plans the strategies within reach of the best draft again with `effort`, and keeps better plans.
// Requires drafts of plan_strategies(). The drafts stay sorted by time.
void plan_best_again(const AssignTable& table, const AssignPlanParams& params,
                     const AssignEffort& effort, std::uint64_t seed, const Budget& budget,
                     std::vector<AssignWorkingPlan>& drafts);

// Runs AssignSearch::ruin on the drafts within reach of the best draft. Returns the number of
// ruins. Requires drafts of plan_strategies(). The drafts stay sorted by time.
int ruin_best(const AssignTable& table, const AssignPlanParams& params, int rounds,
              std::uint64_t seed, const Budget& budget, std::vector<AssignWorkingPlan>& drafts);

}  // namespace stowage
