// Our planner for assign: strategy, dispatch and row counts together.
//
//   if (auto draft = plan_step(table, kQuickAssign, seed, budget)) use(*draft);
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "heuristics/assign/draft.h"
#include "instances/budget.h"

namespace stowage {

// How hard to try.
struct AssignEffort {
  int starts = 2;   // dispatches by price that are searched, besides the plain one
  int steps = 400;  // of local search, per start
  int ruins = 0;    // AssignSearch::ruin of the best start
};

inline constexpr AssignEffort kQuickAssign{.starts = 2, .steps = 300, .ruins = 0};
inline constexpr AssignEffort kThoroughAssign{.starts = 4, .steps = 1000, .ruins = 300};
// What a data loader can wait for: few sequences leave the search little to even out with, and take
// it little time. Tuned on the tune parts of the suites `assign` and `assign-drawn`.
inline constexpr AssignEffort kFewAssign{.starts = 4, .steps = 1000, .ruins = 600};
inline constexpr int kFewToAssign = 96;  // sequences at most
inline constexpr AssignEffort kPatientAssign{.starts = 4, .steps = 1000, .ruins = 4000};

// The best plan found for one strategy. Nothing if it is not usable or no start met the row
// constraints; a budget that ends early leaves the first start, or nothing if no plan is `needed`.
std::optional<AssignDraft> plan_strategy(const AssignTable& table, int strategy,
                                         const AssignEffort& effort, std::uint64_t seed,
                                         const Budget& budget, bool needed = true);

// Every strategy quickly, the most promising first. One draft per strategy that could be planned,
// fastest first. The plan of no time at all comes before all else if a plan is `needed`: a budget
// that ends early leaves that and whatever is better. More time never ends worse.
std::vector<AssignDraft> plan_strategies(const AssignTable& table, std::uint64_t seed,
                                         const Budget& budget, bool needed = true);

// Plans those within reach of the best anew with `effort` and keeps what is better. Requires drafts
// of plan_strategies() and leaves them as those are.
void plan_best_again(const AssignTable& table, const AssignEffort& effort, std::uint64_t seed,
                     const Budget& budget, std::vector<AssignDraft>& drafts);

// AssignSearch::ruin for those within reach of the best, and how often. Requires and leaves what
// plan_best_again() does.
int ruin_best(const AssignTable& table, int rounds, std::uint64_t seed, const Budget& budget,
              std::vector<AssignDraft>& drafts);

}  // namespace stowage
