// What every share of a few sequences takes on one scheme: the fastest rows of each subset, by
// dynamic programming over subsets. Not installed.
//
//   const ShareTimes shares(few, scheme, limit, budget);
//   std::vector<Ms> times = shares.times(counts);      // [subset], infinite where there are no rows
//   ReplicaChoice choice = shares.rows(subset, counts);
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "heuristics/assign/rows.h"
#include "instances/assign/compose.h"
#include "instances/assign/instance.h"
#include "instances/budget.h"

namespace stowage {

inline constexpr std::size_t kMostShared = 17;  // sequences

using Subset = std::uint32_t;  // bit i: the i-th longest sequence

// A step's sequences, longest first. Those that are cut into chunks have rows of their own.
struct FewSequences {
  explicit FewSequences(const AssignInstance& instance);

  std::size_t size() const { return ids.size(); }
  Subset all() const { return (Subset{1} << size()) - 1; }

  const AssignInstance& instance;
  std::vector<std::int64_t> ids;
  std::vector<Tokens> lengths;  // padded
  std::size_t cuts = 0;         // the first so many are cut
};

// How many steps of a few nanoseconds the programmes over subsets may still take, within a budget.
// The same steps end it at the same place, however fast the machine is.
class StepLimit {
 public:
  StepLimit(const Budget& budget, std::int64_t steps) : budget_(budget), left_(steps) {}

  void spend(std::int64_t steps) { left_ -= steps; }
  bool over() const { return left_ <= 0 || budget_.exhausted(); }

 private:
  const Budget& budget_;
  std::int64_t left_;
};

class ShareTimes {
 public:
  // Shares that take `limit` or more need not be told apart. Steps that are over leave it unusable.
  // Requires at most kMostShared sequences.
  ShareTimes(const FewSequences& few, int scheme, Ms limit, StepLimit& steps);

  // T of the fastest rows of every subset; 0 of the empty one, infinite for those that the scheme
  // does not hold, that no permitted number of rows holds, or that take `limit` or more.
  std::vector<Ms> times(const RowCounts& counts) const;

  // The rows that take this time. Requires a finite one.
  ReplicaChoice rows(Subset share, const RowCounts& counts) const;

 private:
  // The longest row's work for each number of rows; infinite if there cannot be so many. An even
  // number of them besides one row, so that they are compared two at a time.
  static constexpr std::size_t kRows = kMostShared;
  static_assert(kRows % 2 == 1);
  struct Fewest {
    int rows = 0;
    Tokens last = 0;  // tokens of the row that was filled last
  };

  void sum_up();
  void fill_fewest_rows(StepLimit& steps);
  void fill_longest_rows(StepLimit& steps);
  void split(Subset share, Ms* longest) const;
  int rows_of(Subset share, const RowCounts& counts, Ms& time) const;
  bool worth(Subset share) const;  // no rows could make it take `limit`
  Subset packed(Subset share) const { return share >> few_.cuts; }

  const FewSequences& few_;
  const Scheme& scheme_;
  int index_;
  Ms limit_;
  Tokens cap_;
  // Of every subset of those that are packed, its bits shifted to the right by the cuts.
  std::vector<Tokens> tokens_;
  std::vector<Ms> work_;
  std::vector<Fewest> fewest_;  // without stages
  std::vector<Ms> longest_;     // with stages: [subset * kRows + rows - 1]
  // Of every subset of those that are cut.
  std::vector<Ms> cut_sum_;
  std::vector<Ms> cut_longest_;
};

}  // namespace stowage
