// Assigns sequences to the replicas of a strategy, before rows are packed.
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

// The preferred group of each kind by the grouped relaxation: the replicas of a group are merged,
// and a kind goes to the group with the least price times work.
struct Preference {
  std::vector<int> group;  // of each kind
  Ms time = 0;             // estimated time of the slowest group
};

// Finds prices that balance the groups, by multiplicative weights. Returns the `most` best
// preferences found until the budget ends, best first. Requires a usable strategy.
std::vector<Preference> price_preferences(const AssignTable& table, int strategy,
                                          const RowCounts& counts, int most,
                                          const Budget& budget = Budget());

// Sums over the sequences of more than `above` tokens: of their lengths and of the squared lengths.
struct LongSequences {
  Tokens above = 0;
  double tokens = 0;
  double squares = 0;
};

// Sorts strategies by an estimate that needs no single sequences, best first. It combines the work
// of each of these sets at the rates of all replicas that hold more than `above` tokens, and the
// longest sequence on its best scheme.
std::vector<int> promising_first(const AssignTable& table, std::vector<int> strategies,
                                 Tokens longest, std::span<const LongSequences> sets);

// Dispatches sequences, longest first. A sequence goes to its preferred group while even_time() of
// that group's least loaded replica stays within Preference::time. Otherwise, or without a
// preference, it goes to the replica whose even_time() is then least. Leaves every replica the
// sequences that its rows and the constraints need, and returns nullopt if that is impossible. If
// the work exceeds some milliseconds and the budget is exhausted, considers only a few groups and
// replicas per sequence. Requires a usable strategy.
std::optional<Dispatch> dispatch(const AssignTable& table, int strategy, const RowCounts& counts,
                                 const Preference* preference, const Budget& budget = Budget());

// Packs every replica by best_rows(). Returns nullopt if the sequences of a replica fit no
// permitted number of rows, or if `give_up` is set and the budget ends.
std::optional<AssignDraft> packed(const AssignTable& table, int strategy, const RowCounts& counts,
                                  const Dispatch& sets, const Budget& budget = Budget(),
                                  bool give_up = false);

// Returns the group of each replica.
std::vector<int> groups_of_replicas(const AssignTable& table, int strategy);

}  // namespace stowage
