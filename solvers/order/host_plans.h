// The plans with transfers that the solve of a graph with a host makes: by greedy choice from
// orders, better ones around the best of them, and MEMO's.
//
//   HostPlans plans(instance, table, least);
//   if (auto plan = plans.from(order, budget)) incumbent.offer(*std::move(plan), 'H', "offload");
//   if (auto plan = plans.better(seed, budget)) ...
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "heuristics/order/offload.h"
#include "instances/budget.h"
#include "instances/order/instance.h"
#include "instances/order/plan.h"
#include "instances/order/table.h"
#include "solvers/order/params.h"
#include "solvers/solve.h"

namespace stowage {

// A baseline, of graphs with a host, where a MILP backend is built in.
extern const Method kMemoSwap;

class HostPlans {
 public:
  // Both must outlive this. Requires a host. `least` bounds every peak.
  HostPlans(const OrderInstance& instance, const OrderTable& table, Bytes least,
            const OrderParams& params);

  // Of this order within the capacity, if the greedy choice gets there.
  std::optional<OrderPlan> from(std::span<const int> order, const Budget& budget);

  // Around the best of all so far; more plans are looked at each time. Nothing if
  // there is no plan yet.
  std::optional<OrderPlan> better(std::uint64_t seed, Budget& budget);

  // Program order with whole tensors of MEMO's LP on the host and the rest made again where the
  // capacity asks for it. Nothing, and why, if there is none. Requires a backend.
  std::optional<OrderPlan> memo(const SolveOptions& options, Budget& budget, std::string& why);

 private:
  bool timed() const { return instance_.objective == OrderObjective::time; }
  Bytes capacity() const { return instance_.capacity.value_or(kMaxExact); }
  OrderPlan composed(const OffloadPlan& plan) const;

  const OrderInstance& instance_;
  const OrderTable& table_;
  const Bytes least_;
  const int growth_;  // of the plans to look at, each time
  Offload offload_;
  std::optional<OffloadPlan> best_;
  std::int64_t plans_;  // to look at
};

}  // namespace stowage
