// Fits the steps of an order into a capacity by rematerialization: a tensor is dropped and made
// again before its next use.
//
// Candidates are the tensors that live across the step with the largest need and are not touched
// there. A candidate is dropped after its last touch before the step, and its writer runs again
// right before the next touch. If an input of the writer is gone by then, the input is kept longer
// or made again as well, to a limited depth. The greedy choice takes the candidate that relieves
// the most bytes above the capacity, over all steps, per time of its runs. Source of the greedy
// choice by cost: Jain et al., Checkmate (arXiv 1910.02653), section 6 (baselines); Kirisame et
// al., DTR (2006.09616).
//
//   Evictions evictions(table);
//   if (evictions.relieve(steps, capacity, budget)) use(steps);
//
// Thread safety: an object belongs to one thread.
#pragma once

#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "heuristics/order/params.h"
#include "instances/budget.h"
#include "instances/order/planning_table.h"

namespace stowage {

class Evictions {
 public:
  // `table` must outlive this object. Operators that take longer than `longest_ms` do not run
  // again.
  explicit Evictions(const OrderTable& table, const EvictionParams& params = {},
                     Ms longest_ms = std::numeric_limits<Ms>::infinity());

  // Adds runs to `steps`, an order of all operators in which some may run again. Returns true if
  // the steps now fit the capacity. Otherwise `steps` have the fewest bytes above the capacity that
  // were found. If `random` is given, a random factor between 0.5 and 1.5 changes each choice's
  // score.
  bool relieve(std::vector<int>& steps, Bytes capacity, const Budget& budget,
               std::mt19937_64* random = nullptr);

  // Removes each repeated run without which the steps still fit, the longest run first.
  void drop_needless(std::vector<int>& steps, Bytes capacity);

  // Returns the candidate sequences of runs that make `tensor` again before the step: the writer
  // alone, then with the writers of its missing inputs, one level deeper each. Returns an empty
  // list if the writer may not run there.
  std::vector<std::vector<int>> chains_to(std::span<const int> steps, int tensor,
                                          std::size_t before);

  Ms time_of(std::span<const int> steps) const;
  // Returns true if the steps keep all precedences, including those of repeated runs.
  bool valid(std::span<const int> steps) const;
  // Returns the number of plans whose memory was computed by this object.
  std::int64_t counted() const { return counted_; }

 private:
  // Bytes above the capacity, summed over all steps, and the first step with the largest need.
  struct Excess {
    double bytes = 0;
    std::size_t worst = 0;
    Bytes peak = 0;
  };
  struct Drop {
    std::vector<int> runs;  // runs to insert before step `before`
    std::size_t before = 0;
    double score = 0;
    Excess left;
  };
  // A step that writes or touches a tensor.
  struct Use {
    std::size_t step = 0;
    bool writes = false;
  };

  Excess excess_of(std::span<const int> steps, Bytes capacity);
  void list_uses(std::span<const int> steps);
  bool alive_at(int tensor, std::size_t step) const;
  bool may_run_again(int op) const { return table_.may_rerun(op) && table_.ms(op) <= longest_ms_; }
  bool may_run_at(int op, std::size_t step) const;
  void chain_to(int op, std::size_t step, int depth, std::vector<int>& runs) const;
  void try_drops(const std::vector<int>& steps, int tensor, std::size_t before, Bytes capacity,
                 const Excess& now, double blur, Drop& best);
  std::vector<std::pair<int, std::size_t>> in_the_way(std::span<const int> steps, std::size_t worst,
                                                      std::size_t most) const;
  std::vector<std::size_t> worst_steps(std::span<const int> steps, Bytes capacity) const;

  const OrderTable& table_;
  const EvictionParams params_;
  const Ms longest_ms_;
  std::vector<std::vector<Use>> uses_;  // uses of each tensor, by step
  std::vector<std::size_t> first_run_;  // first step of each operator
  std::vector<char> needed_;            // scratch memory of excess_of()
  std::int64_t counted_ = 0;
};

// Returns `steps` with `runs` inserted before step `before`.
std::vector<int> with_runs(std::span<const int> steps, std::span<const int> runs,
                           std::size_t before);

}  // namespace stowage
