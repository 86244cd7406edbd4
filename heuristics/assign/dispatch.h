// Which replica of a strategy gets which sequence, before rows are packed.
//
//   for (const Preference& wish : price_preferences(table, strategy, counts, 3)) {
//     if (auto sets = dispatch(table, strategy, counts, &wish)) ...
//   }
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "heuristics/assign/draft.h"
#include "heuristics/assign/rows.h"

namespace stowage {

// Ascending positions of each replica, in the order of AssignDraft::replicas.
using Dispatch = std::vector<std::vector<int>>;

// Which group each kind should go to, by the grouped relaxation: the replicas of a group are one,
// and a kind goes where price times work is least.
struct Preference {
  std::vector<int> group;  // of each kind
  Ms time = 0;             // estimated time of the slowest group
};

// Prices that even out the groups, found by multiplicative weights; the `most` best preferences
// met on the way, until the budget ends, best first. Requires a usable strategy.
std::vector<Preference> price_preferences(const AssignTable& table, int strategy,
                                          const RowCounts& counts, int most,
                                          const Budget& budget = Budget());

// The sequences of more than so many tokens: the sums of their lengths and of the squares.
struct LongSequences {
  Tokens above = 0;
  double tokens = 0;
  double squares = 0;
};

// Strategies in the order of an estimate that needs no look at single sequences: the work of each
// of these sets at the rates of all replicas that hold more than `above`, and the longest sequence
// on its best scheme.
std::vector<int> promising_first(const AssignTable& table, std::vector<int> strategies,
                                 Tokens longest, std::span<const LongSequences> sets);

// From the longest sequence to the shortest: to the preferred group while even_time of its least
// loaded replica stays within Preference::time, otherwise (and without a preference) wherever
// even_time ends least. Leaves every replica the sequences that its rows and the constraints need.
// Nothing if that cannot be. With more than some milliseconds' work and a budget that is exhausted
// only a few groups and replicas are looked at for each sequence. Requires a usable strategy.
std::optional<Dispatch> dispatch(const AssignTable& table, int strategy, const RowCounts& counts,
                                 const Preference* preference, const Budget& budget = Budget());

// The rows of best_rows for every replica. Nothing if some replica's sequences fit no permitted
// number of rows, or if one may give up and the budget ends.
std::optional<AssignDraft> packed(const AssignTable& table, int strategy, const RowCounts& counts,
                                  const Dispatch& sets, const Budget& budget = Budget(),
                                  bool give_up = false);

// The group of each replica.
std::vector<int> groups_of_replicas(const AssignTable& table, int strategy);

}  // namespace stowage
