// Fits runs into a capacity: a tensor that is in the way is dropped, and made again before its next
// use.
//
// Of the tensors that live across the step that needs most and are not touched there, each may be
// dropped after its last touch before it. Its writer then runs again right before the next touch;
// what that reads and is no longer there is kept longer, or made again as well, chain by chain. The
// one that relieves most bytes above the capacity, over all steps, for its time goes first. Source
// of the greedy choice by cost: Jain et al., Checkmate (arXiv 1910.02653), section 6 (baselines);
// Kirisame et al., DTR (2006.09616).
//
//   Evictions evictions(table);
//   if (evictions.relieve(steps, capacity, budget)) use(steps);
//
// Thread safety: an object belongs to one thread.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "heuristics/order/params.h"
#include "instances/budget.h"
#include "instances/order/table.h"

namespace stowage {

class Evictions {
 public:
  // `table` must outlive this.
  explicit Evictions(const OrderTable& table, const EvictionParams& params = {});

  // Whether `steps`, an order of all operators in which some may stand again, now fit. If not, they
  // are the best that was seen: the least bytes above the capacity. With `random` each choice is
  // blurred.
  bool relieve(std::vector<int>& steps, Bytes capacity, const Budget& budget,
               std::mt19937_64* random = nullptr);

  // Takes away every run again without which the steps still fit, the longest first.
  void drop_needless(std::vector<int>& steps, Bytes capacity);

  // The runs that may make `tensor` anew before the step: its writer alone, then with what that
  // reads and is not there, chain by chain. None if its writer may not run there.
  std::vector<std::vector<int>> chains_to(std::span<const int> steps, int tensor,
                                          std::size_t before);

  Ms time_of(std::span<const int> steps) const;
  // Whether the steps keep all precedences, those of runs again included.
  bool valid(std::span<const int> steps) const;
  // How many plans were counted out, since the beginning.
  std::int64_t counted() const { return counted_; }

 private:
  // Bytes above the capacity, over all steps, and the step that needs most.
  struct Excess {
    double bytes = 0;
    std::size_t worst = 0;
    Bytes peak = 0;
  };
  struct Drop {
    std::vector<int> runs;  // again
    std::size_t before = 0;
    double score = 0;
    Excess left;
  };
  // Where a tensor is written or touched.
  struct Use {
    std::size_t step = 0;
    bool writes = false;
  };

  Excess excess_of(std::span<const int> steps, Bytes capacity);
  void list_uses(std::span<const int> steps);
  bool alive_at(int tensor, std::size_t step) const;
  bool may_run_at(int op, std::size_t step) const;
  void chain_to(int op, std::size_t step, int depth, std::vector<int>& runs) const;
  void try_drops(const std::vector<int>& steps, int tensor, std::size_t before, Bytes capacity,
                 const Excess& now, double blur, Drop& best);
  std::vector<std::pair<int, std::size_t>> in_the_way(std::span<const int> steps, std::size_t worst,
                                                      std::size_t most) const;
  std::vector<std::size_t> worst_steps(std::span<const int> steps, Bytes capacity) const;

  const OrderTable& table_;
  const EvictionParams params_;
  std::vector<std::vector<Use>> uses_;  // of a tensor, by step
  std::vector<std::size_t> first_run_;  // of an operator
  std::vector<char> needed_;            // of excess_of()
  std::int64_t counted_ = 0;
};

// `steps` with `runs` before step `before`.
std::vector<int> with_runs(std::span<const int> steps, std::span<const int> runs,
                           std::size_t before);

}  // namespace stowage
