// Plans with repeated runs: by evictions from an order, and by a local search around a plan.
//
//   if (auto steps = evicted_within(table, order, capacity, budget)) use(*steps);
//   const std::vector<int> low = evicted_to(table, order, goal, budget);
//   RerunWalk walk(table, seed);
//   walk.improve(steps, {.capacity = capacity, .time = true}, 1000, budget);
//
// Thread safety: an object belongs to one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "heuristics/order/recompute/evictions.h"
#include "instances/budget.h"
#include "instances/order/planning_table.h"

namespace stowage {

// Returns the order with repeated runs within the capacity, none of them removable. Returns nullopt
// if the greedy choice finds no plan.
std::optional<std::vector<int>> evicted_within(const OrderTable& table, std::span<const int> order,
                                               Bytes capacity, const Budget& budget,
                                               const EvictionParams& params = {});

// Calls `tell` with plans of the order within the capacity, no run of them removable, until it
// returns true. Each attempt lets operators up to a share of the time run again
// (order_fixed::kLongestRuns), and begins with the order alone or with the tensors that a minimum
// cut saves at the step with the largest need (saved_tensors.h).
void tell_cheap_plans(const OrderTable& table, std::span<const int> order, Bytes capacity,
                      const Budget& budget,
                      const std::function<bool(const std::vector<int>&)>& tell,
                      const EvictionParams& params = {});

// Returns the order with repeated runs that has the least peak the greedy choice reaches, by
// bisection between the goal and the current peak.
std::vector<int> evicted_to(const OrderTable& table, std::span<const int> order, Bytes goal,
                            const Budget& budget, const EvictionParams& params = {});

// Local search: removes some repeated runs or moves an operator, then evicts anew with random
// factors, and keeps the better plan.
class RerunWalk {
 public:
  struct Goal {
    Bytes capacity = 0;  // only for the objective time
    bool time = false;   // true: minimize the time within the capacity; false: minimize the peak
    Bytes least = 0;     // a peak at which the search stops
  };

  // `table` must outlive this object.
  RerunWalk(const OrderTable& table, std::uint64_t seed, const OrderHeuristicParams& params = {});

  // Evaluates about `most` plans and returns their number. `steps` fit the goal's capacity before
  // and after.
  std::int64_t improve(std::vector<int>& steps, const Goal& goal, std::int64_t most,
                       const Budget& budget);

 private:
  std::vector<int> changed(const std::vector<int>& steps);
  void thin_out(std::vector<int>& steps);
  void move_one(std::vector<int>& steps);

  const OrderTable& table_;
  const std::size_t farthest_;  // largest distance in steps that one operator moves
  Evictions evictions_;
  std::mt19937_64 random_;
};

}  // namespace stowage
