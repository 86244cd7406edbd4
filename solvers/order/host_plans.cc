#include "solvers/order/host_plans.h"

#include <string>
#include <utility>
#include <vector>

#include "formulations/order/swap.h"
#include "instances/numeric/numbers.h"
#include "instances/order/plan_builder.h"
#include "solvers/milp/solver.h"

namespace stowage {

const Method kMemoSwap{
    "memo", MethodKind::baseline,
    "program order, with what an LP hides behind runs on the host, the rest made again",
    "MEMO (arXiv 2407.12117), section 4.1, for whole tensors"};

HostPlans::HostPlans(const OrderInstance& instance, const OrderTable& table, Bytes least,
                     const OrderParams& params)
    : instance_(instance),
      table_(table),
      least_(least),
      growth_(params.rounds.growth),
      offload_(instance, table, params.heuristics),
      plans_(params.rounds.plans) {}

OrderPlan HostPlans::composed(const OffloadPlan& plan) const {
  return compose_order(instance_, table_, plan.steps, plan.transfers);
}

std::optional<OrderPlan> HostPlans::from(std::span<const int> order, const Budget& budget) {
  std::optional<OffloadPlan> plan = timed() ? offload_.within(order, capacity(), budget)
                                            : std::optional(offload_.lowest(order, least_, budget));
  if (!plan || plan->peak > capacity()) return std::nullopt;
  OrderPlan found = composed(*plan);
  const bool better =
      !best_ || (timed() ? plan->time_ms < best_->time_ms : plan->peak < best_->peak);
  if (better) best_ = std::move(plan);
  return found;
}

std::optional<OrderPlan> HostPlans::better(std::uint64_t seed, Budget& budget) {
  if (!best_) return std::nullopt;
  const auto its_seed = seed + static_cast<std::uint64_t>(plans_);
  budget.count_nodes(offload_.improve(*best_, capacity(), plans_, its_seed, budget));
  plans_ *= growth_;
  return composed(*best_);
}

std::optional<OrderPlan> HostPlans::memo(const SolveOptions& options, Budget& budget,
                                         std::string& why) {
  const std::vector<int>& order = table_.program_order();
  const SwapLp lp = build_swap_lp(table_, order);
  if (lp.tensors.size() > kMaxSwapTensors) {
    why = "the LP would have more than " + std::to_string(kMaxSwapTensors) + " tensors";
    return std::nullopt;
  }
  std::vector<OffloadInterval> offload_intervals;
  if (!lp.tensors.empty()) {
    Budget part =
        budget.part(options.milp_seconds.value_or(budget.seconds_left()), budget.nodes_left());
    const MilpResult solved =
        solve_milp(backend_of(options), lp.model, {.seed = options.seed}, part);
    if (!has_point(solved.status)) {
      why = solved.detail.empty() ? "the LP of the swaps was not solved" : solved.detail;
      return std::nullopt;
    }
    for (std::size_t k = 0; k < lp.tensors.size(); ++k) {
      if (solved.values[at(lp.fraction[k])] >= order_fixed::kWholeTensor) {
        offload_intervals.push_back({lp.tensors[k], lp.behind[k]});
      }
    }
  }
  const auto plan =
      offload_.with_runs_again(order, std::move(offload_intervals), capacity(), budget);
  if (plan) return composed(*plan);
  why = "the LP of the swaps and runs again have no plan within the capacity";
  return std::nullopt;
}

}  // namespace stowage
