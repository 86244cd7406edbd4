// Assigns sequences to the replicas of a strategy, before rows are packed.
//
//   for (const Preference& wish : price_preferences(table, strategy, counts, 3)) {
//     if (auto sets = dispatch(table, strategy, counts, &wish)) ...
//   }
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "heuristics/assign/construct/row_packing.h"
#include "heuristics/assign/working_plan.h"

namespace stowage {

// Ascending positions by replica, in the order of AssignWorkingPlan::replicas.
using Dispatch = std::vector<std::vector<int>>;

// Preferred group of each length class by the grouped relaxation: the replicas of a group are
// merged, and a class goes to the group with the least price times work.
struct Preference {
  std::vector<int> group;  // preferred group by length class
  Ms time = 0;             // estimated time of the slowest group
};

// Finds prices that balance the groups, by multiplicative weights. Returns the `most` best
// preferences found until the budget ends, best first. Requires a usable strategy.
std::vector<Preference> price_preferences(const AssignTable& table, int strategy,
                                          const RowCounts& counts, int most,
                                          const Budget& budget = Budget());

// Sums of the lengths and of the squared lengths over all sequences of more than `above` tokens.
struct LongSequences {
  Tokens above = 0;
  double tokens = 0;
  double squares = 0;
};

// Sorts strategies by an estimate of the step time from sums over sequences, best first. The
// estimate is the larger of two times: the work of each of `sets` at the joint rate of all replicas
// that admit it, and the longest sequence on its best scheme.
std::vector<int> promising_first(const AssignTable& table, std::vector<int> strategies,
                                 Tokens longest, std::span<const LongSequences> sets);

// Assigns sequences, longest first, to replicas. A sequence goes to its preferred group while
// even_time() of that group's least loaded replica stays within Preference::time. Otherwise, or
// without a preference, it goes to the replica whose even_time() is then least. Every replica keeps
// enough sequences for its rows and the constraints; returns nullopt if that is impossible. If the
// work exceeds some milliseconds and the budget is exhausted, only a few groups and replicas are
// considered per sequence. Requires a usable strategy.
std::optional<Dispatch> dispatch(const AssignTable& table, int strategy, const RowCounts& counts,
                                 const Preference* preference, const Budget& budget = Budget());

// Packs every replica by best_rows(). Returns nullopt if the sequences of a replica fit no
// permitted number of rows, or if `give_up` is set and the budget ends.
std::optional<AssignWorkingPlan> packed(const AssignTable& table, int strategy,
                                        const RowCounts& counts, const Dispatch& sets,
                                        const Budget& budget = Budget(), bool give_up = false);

// Returns the group of each replica.
std::vector<int> groups_of_replicas(const AssignTable& table, int strategy);

}  // namespace stowage
