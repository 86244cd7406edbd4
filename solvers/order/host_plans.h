// Makes the plans with transfers for graphs with a host: greedy plans from orders, improved plans
// around the best of them, and MEMO's plan.
//
//   HostPlans plans(instance, table, least);
//   if (auto plan = plans.from(order, budget)) incumbent.offer(*std::move(plan), 'H', "offload");
//   if (auto plan = plans.better(seed, budget)) ...
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "heuristics/order/recompute/offload.h"
#include "instances/budget.h"
#include "instances/order/instance.h"
#include "instances/order/plan.h"
#include "instances/order/planning_table.h"
#include "solvers/order/params.h"
#include "solvers/solve.h"

namespace stowage {

// A baseline for graphs with a host, listed if a MILP backend is built in.
extern const Method kMemoSwap;

class HostPlans {
 public:
  // `instance` and `table` must outlive this object. Requires a host. `least` is a lower bound in
  // bytes on every peak.
  HostPlans(const OrderInstance& instance, const OrderTable& table, Bytes least,
            const OrderParams& params);

  // Returns the greedy plan of this order within the capacity, or nullopt if the greedy choice
  // finds no plan.
  std::optional<OrderPlan> from(std::span<const int> order, const Budget& budget);

  // Returns an improved plan around the best plan so far, or nullopt if no plan exists yet. Each
  // call evaluates more plans than the one before.
  std::optional<OrderPlan> better(std::uint64_t seed, Budget& budget);

  // Returns MEMO's plan: program order, the whole tensors that MEMO's LP chooses on the host, and
  // repeated runs as the capacity requires. If no such plan fits, returns nullopt and sets `why`.
  // Requires a backend.
  std::optional<OrderPlan> memo(const SolveOptions& options, Budget& budget, std::string& why);

 private:
  bool timed() const { return instance_.objective == OrderObjective::time; }
  Bytes capacity() const { return instance_.capacity.value_or(kMaxExact); }
  OrderPlan composed(const OffloadPlan& plan) const;

  const OrderInstance& instance_;
  const OrderTable& table_;
  const Bytes least_;
  const int growth_;  // factor of the evaluated plans from one call to the next
  Offload offload_;
  std::optional<OffloadPlan> best_;
  std::int64_t plans_;  // plans that the next call evaluates
};

}  // namespace stowage
