// Plans in which operators run again: by evictions from an order, and by a search around a plan.
//
//   if (auto steps = evicted_within(table, order, capacity, budget)) use(*steps);
//   const std::vector<int> low = evicted_to(table, order, goal, budget);
//   RerunWalk walk(table, seed);
//   walk.improve(steps, {.capacity = capacity, .time = true}, 1000, budget);
//
// Thread safety: an object belongs to one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "heuristics/order/evictions.h"
#include "instances/budget.h"
#include "instances/order/table.h"

namespace stowage {

// The order with runs again, none of them needless, within the capacity; nothing if the greedy
// choice does not get there.
std::optional<std::vector<int>> evicted_within(const OrderTable& table, std::span<const int> order,
                                               Bytes capacity, const Budget& budget,
                                               const EvictionParams& params = {});

// The order with runs again that has the least peak that the greedy choice reaches, from above the
// goal by halves.
std::vector<int> evicted_to(const OrderTable& table, std::span<const int> order, Bytes goal,
                            const Budget& budget, const EvictionParams& params = {});

// Takes some runs again away and moves an operator, and evicts anew with blurred choices; keeps
// what is better.
class RerunWalk {
 public:
  struct Goal {
    Bytes capacity = 0;  // of objective time
    bool time = false;   // least time within the capacity; otherwise the least peak
    Bytes least = 0;     // a peak that is good enough
  };

  // `table` must outlive this.
  RerunWalk(const OrderTable& table, std::uint64_t seed, const OrderHeuristicParams& params = {});

  // Counts out about so many plans. `steps` keep the goal's capacity before and after. The number
  // of plans that were counted out.
  std::int64_t improve(std::vector<int>& steps, const Goal& goal, std::int64_t most,
                       const Budget& budget);

 private:
  std::vector<int> changed(const std::vector<int>& steps);
  void thin_out(std::vector<int>& steps);
  void move_one(std::vector<int>& steps);

  const OrderTable& table_;
  const std::size_t farthest_;  // steps over which one operator moves
  Evictions evictions_;
  std::mt19937_64 random_;
};

}  // namespace stowage
