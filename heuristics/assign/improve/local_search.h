// Local search for assign: speeds up the slowest replica until no change helps.
//
//   AssignSearch search(table, counts, std::move(draft), params.search);
//   search.improve(all, 1000, budget);
//   search.ruin(200, seed, budget);
//   use(search.draft());
//
// A step takes the slowest replica. It moves a sequence of this replica to a row of another
// replica, or swaps two sequences; it applies the change that makes the slower of the two replicas
// fastest. If no row has room, both replicas are repacked after the change. T is recomputed from
// the two changed rows. Caps and row constraints always hold.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "heuristics/assign/construct/row_packing.h"
#include "heuristics/assign/params.h"
#include "heuristics/assign/working_plan.h"
#include "instances/budget.h"

namespace stowage {

class AssignSearch {
 public:
  // Requires a draft in which every replica has a permitted number of rows. `table` must outlive
  // this object.
  AssignSearch(const AssignTable& table, const RowCounts& counts, AssignWorkingPlan draft,
               const AssignSearchParams& params = {});

  // Makes at most `steps` steps among the given replicas.
  void improve(std::span<const int> replicas, int steps, const Budget& budget);
  void improve(int steps, const Budget& budget);

  // Ruin and recreate: removes the sequences of the slowest replica and of one to three others, and
  // assigns them again in a perturbed order. Then improves these replicas, and keeps a better
  // result. Runs at most `rounds` rounds, fewer if the instance is large, and stops when all
  // replicas are level. Returns the number of rounds.
  int ruin(int rounds, std::uint64_t seed, const Budget& budget);

  // Reduces the number of rows where this costs no time: if rows have no fixed time, moves create
  // rows freely.
  void close_ranks(const Budget& budget);

  const AssignWorkingPlan& draft() const { return draft_; }

 private:
  struct Member {
    int position = 0;
    int row = 0;
  };
  // Components of a replica's T.
  struct Summary {
    Ms sum = 0;      // sum of the rows' times
    Ms longest = 0;  // time of the longest row
    Ms second = 0;   // time of the second longest row
    int longest_row = -1;
    LoadSum load;
    std::vector<Member> members;  // ascending positions
  };
  // A move (other < 0) or a swap of a sequence of the slowest replica.
  struct Change {
    Ms time = 0;  // time of the slower replica after the change
    int target = -1;
    Member mine;
    Member other{-1, -1};
    int row = -1;  // row of the target for a moved sequence; the number of rows: a new row
  };
  struct Repack {
    Ms time = 0;
    int target = -1;
    int mine = 0;    // position
    int other = -1;  // position or -1
  };

  const Scheme& scheme(int replica) const;
  WorkingReplica& at(int replica) { return draft_.replicas[static_cast<std::size_t>(replica)]; }
  const WorkingReplica& at(int replica) const {
    return draft_.replicas[static_cast<std::size_t>(replica)];
  }
  const Summary& summary(int replica) const {
    return summaries_[static_cast<std::size_t>(replica)];
  }
  void refresh(int replica);
  Ms time_with(int replica, int row, Ms change) const;  // T if the work of one row changes
  std::optional<Ms> time_without(int replica, const Member& member) const;
  void consider_moves(int slowest, int target, Change& best) const;
  void consider_swaps(int slowest, int target, Change& best) const;
  void consider_inside(int slowest, Change& best) const;
  void apply(int slowest, const Change& change);
  bool repack(int slowest, std::span<const int> replicas);
  bool try_repack(int slowest, const Repack& attempt);
  bool set(int replica, std::vector<int> positions, WorkingReplica& out) const;
  int slowest_of(std::span<const int> replicas) const;
  // true if no replica is noticeably above the mean
  bool level(std::span<const int> replicas) const;

  const AssignTable& table_;
  RowCounts counts_;
  AssignSearchParams params_;
  AssignWorkingPlan draft_;
  std::vector<Summary> summaries_;
  bool may_empty_ = true;
};

}  // namespace stowage
