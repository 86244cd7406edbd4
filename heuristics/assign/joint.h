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
inline constexpr AssignEffort kPatientAssign{.starts = 4, .steps = 1000, .ruins = 4000};

// The best plan found for one strategy. Nothing if it is not usable or no start met the row
// constraints; a budget that ends early leaves the first start, or nothing if no plan is `needed`.
std::optional<AssignDraft> plan_strategy(const AssignTable& table, int strategy,
                                         const AssignEffort& effort, std::uint64_t seed,
                                         const Budget& budget, bool needed = true);

// Every strategy quickly, then those within reach of the best with `effort`. One draft per strategy
// that could be planned, fastest first. A budget that ends early leaves those that are made, and
// one if a plan is `needed`.
std::vector<AssignDraft> plan_strategies(const AssignTable& table, const AssignEffort& effort,
                                         std::uint64_t seed, const Budget& budget,
                                         bool needed = true);

}  // namespace stowage
