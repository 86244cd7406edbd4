// Our planner for assign: chooses strategy, dispatch and row counts together.
//
//   if (auto draft = plan_step(table, kQuickAssign, seed, budget)) use(*draft);
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "heuristics/assign/draft.h"
#include "instances/budget.h"

namespace stowage {

// The effort of the search.
struct AssignEffort {
  int starts = 2;   // dispatches by price that are searched, besides the plain one
  int steps = 400;  // of local search, per start
  int ruins = 0;    // AssignSearch::ruin of the best start
};

inline constexpr AssignEffort kQuickAssign{.starts = 2, .steps = 300, .ruins = 0};
inline constexpr AssignEffort kThoroughAssign{.starts = 4, .steps = 1000, .ruins = 300};
// The effort for steps of at most kFewToAssign sequences, which a data loader can wait for: such
// steps are searched fast and leave little to balance. Tuned on the tune parts of the suites
// `assign` and `assign-drawn`.
inline constexpr AssignEffort kFewAssign{.starts = 4, .steps = 1000, .ruins = 600};
inline constexpr int kFewToAssign = 96;  // sequences at most
inline constexpr AssignEffort kPatientAssign{.starts = 4, .steps = 1000, .ruins = 4000};

// Returns the best plan found for one strategy. Returns nullopt if the strategy is not usable or no
// start keeps the row constraints. If the budget ends early, returns the first start, or nullopt if
// no plan is `needed`.
std::optional<AssignDraft> plan_strategy(const AssignTable& table, int strategy,
                                         const AssignEffort& effort, std::uint64_t seed,
                                         const Budget& budget, bool needed = true);

// Plans every strategy quickly, most promising first. Returns one draft per strategy that could be
// planned, fastest first. If a plan is `needed`, the fastest construction comes first, so that an
// early end of the budget leaves that plan and any better ones. The result never gets worse with
// more time.
std::vector<AssignDraft> plan_strategies(const AssignTable& table, std::uint64_t seed,
                                         const Budget& budget, bool needed = true);

// Plans the strategies close to the best again with `effort`, and keeps better drafts. Requires
// drafts of plan_strategies(), and leaves them fastest first.
void plan_best_again(const AssignTable& table, const AssignEffort& effort, std::uint64_t seed,
                     const Budget& budget, std::vector<AssignDraft>& drafts);

// Runs AssignSearch::ruin() for the strategies close to the best. Returns the number of
// improvements. Requires drafts as plan_best_again() does, and leaves them fastest first.
int ruin_best(const AssignTable& table, int rounds, std::uint64_t seed, const Budget& budget,
              std::vector<AssignDraft>& drafts);

}  // namespace stowage
