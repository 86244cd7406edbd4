// Times of all shares of a few sequences on one scheme: the fastest rows of each subset, by dynamic
// programming over subsets. Not installed.
//
//   const SubsetTimes shares(few, scheme, limit, budget);
//   std::vector<Ms> times = shares.times(counts);      // [subset], infinite if no rows fit
//   ReplicaChoice choice = shares.rows(subset, counts);
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "heuristics/assign/construct/row_packing.h"
#include "instances/assign/instance.h"
#include "instances/assign/plan_builder.h"
#include "instances/budget.h"

namespace stowage {

inline constexpr std::size_t kMaxShared = 17;  // largest number of sequences

using Subset = std::uint32_t;  // bit i: the i-th longest sequence

// The instance's sequences, longest first. Sequences that are cut into chunks have their own rows.
struct FewSequences {
  explicit FewSequences(const AssignInstance& instance);

  std::size_t size() const { return ids.size(); }
  Subset all() const { return (Subset{1} << size()) - 1; }

  const AssignInstance& instance;
  std::vector<std::int64_t> ids;
  std::vector<Tokens> lengths;  // padded lengths
  std::size_t cuts = 0;         // number of sequences that are cut; they come first
};

// Limit on the steps, of a few nanoseconds each, of the dynamic programs within a budget. Equal
// limits end the program at the same step on every machine.
class StepLimit {
 public:
  StepLimit(const Budget& budget, std::int64_t steps) : budget_(budget), left_(steps) {}

  void spend(std::int64_t steps) { left_ -= steps; }
  bool over() const { return left_ <= 0 || budget_.exhausted(); }

 private:
  const Budget& budget_;
  std::int64_t left_;
};

class SubsetTimes {
 public:
  // Computes the rows of all subsets. Shares that take `limit` or more are not distinguished. If
  // the steps run out, the object must not be used. Requires at most kMaxShared sequences.
  SubsetTimes(const FewSequences& few, int scheme, Ms limit, StepLimit& steps);

  // Returns T of the fastest rows of every subset in ms. The empty subset has 0. Returns infinity
  // for subsets that the scheme does not admit, that no permitted number of rows holds, or that
  // take `limit` or more.
  std::vector<Ms> times(const RowCounts& counts) const;

  // Returns the rows of the share with this time. Requires a share of finite time.
  ReplicaChoice rows(Subset share, const RowCounts& counts) const;

 private:
  // Largest number of rows, which are stored by count; infinite if a count is impossible. All
  // counts but one are compared in pairs, so the number is odd.
  static constexpr std::size_t kRows = kMaxShared;
  static_assert(kRows % 2 == 1);
  struct Fewest {
    int rows = 0;
    Tokens last = 0;  // tokens of the last row
  };

  void sum_up();
  void fill_fewest_rows(StepLimit& steps);
  void fill_longest_rows(StepLimit& steps);
  void split(Subset share, Ms* longest) const;
  int rows_of(Subset share, const RowCounts& counts, Ms& time) const;
  bool worth(Subset share) const;  // false if every choice of rows takes `limit` or more
  Subset packed(Subset share) const { return share >> few_.cuts; }

  const FewSequences& few_;
  const Scheme& scheme_;
  int index_;
  Ms limit_;
  Tokens cap_;
  // Values of every subset of the packed sequences, with bits shifted right by the number of cuts.
  std::vector<Tokens> tokens_;
  std::vector<Ms> work_;
  std::vector<Fewest> fewest_;  // for schemes without pipeline stages
  std::vector<Ms> longest_;     // for schemes with pipeline stages: [subset * kRows + rows - 1]
  // Values of every subset of the cut sequences.
  std::vector<Ms> cut_sum_;
  std::vector<Ms> cut_longest_;
};

}  // namespace stowage
