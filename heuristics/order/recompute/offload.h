// Fits the steps of an order into a capacity with a host: a tensor is offloaded to the host, or
// dropped and made again before its next use, depending on which costs less time.
//
// Candidates are the tensors that live across the step with the largest need and are not touched
// there. A candidate is on the host between its previous and its next use (transfer_channels.h), or
// is made again as in evictions.h. The greedy choice takes the candidate that relieves the most
// bytes above the capacity, over all steps, per time that it adds to the plan. A transfer adds no
// time if no run waits for it. If the host is small, taking the candidate that relieves the most
// bytes at any cost may succeed more often. Both choices are tried.
//
//   Offload offload(instance, table);
//   if (auto plan = offload.within(order, capacity, budget)) use(plan->steps, plan->transfers);
//
// Sources of transfers hidden behind runs: MEMO (arXiv 2407.12117), Pseudo-to-Real (2110.03888).
// Thread safety: an object belongs to one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "heuristics/order/params.h"
#include "heuristics/order/recompute/evictions.h"
#include "heuristics/order/recompute/transfer_channels.h"
#include "instances/budget.h"
#include "instances/order/instance.h"
#include "instances/order/plan.h"
#include "instances/order/planning_table.h"

namespace stowage {

struct OffloadPlan {
  std::vector<int> steps;
  std::vector<OffloadInterval> offload_intervals;
  std::vector<OrderTransfer> transfers;
  Ms time_ms = 0;
  Bytes peak = 0;
};

class Offload {
 public:
  // `instance` and `table` must outlive this object. Requires a host.
  Offload(const OrderInstance& instance, const OrderTable& table,
          const OrderHeuristicParams& params = {});

  // Returns a plan of the order within the capacity, with repeated runs and transfers, none of them
  // removable. Returns nullopt if the greedy choice finds no plan. If the objective is the peak, no
  // run waits for a transfer.
  std::optional<OffloadPlan> within(std::span<const int> steps, Bytes capacity,
                                    const Budget& budget);

  // Returns the plan with the least peak that the greedy choice reaches, by bisection between the
  // goal and the current peak. The worst result is the order without transfers.
  OffloadPlan lowest(std::span<const int> steps, Bytes goal, const Budget& budget);

  // Returns a plan of the order with exactly these offload intervals, and with repeated runs if the
  // capacity requires them. Returns nullopt if no such plan fits. If the objective is the peak, no
  // run is repeated.
  std::optional<OffloadPlan> with_runs_again(std::span<const int> steps,
                                             std::vector<OffloadInterval> offload_intervals,
                                             Bytes capacity, const Budget& budget);

  // Removes some transfers and repeated runs, then chooses anew with random factors. Keeps the new
  // plan if it takes less time within the capacity, or has a smaller peak if the objective is the
  // peak. Stops after about `most` evaluated plans and returns their number.
  std::int64_t improve(OffloadPlan& plan, Bytes capacity, std::int64_t most, std::uint64_t seed,
                       const Budget& budget);

 private:
  struct Choice {
    std::vector<int> steps;
    std::vector<OffloadInterval> offload_intervals;
    TransferChannels::Layout layout;
    double score = 0;
  };

  bool timed() const { return instance_.objective == OrderObjective::time; }
  bool good(const TransferChannels::Layout& layout) const;
  Choice laid(std::vector<int> steps, std::vector<OffloadInterval> offload_intervals,
              Bytes capacity);
  // Score of the greedy choice: bytes per added time, or bytes alone. `cost_of_runs` scores by
  // bytes per added time, allows only repeated runs, and leaves the transfers as they are.
  enum class By { cost, bytes, cost_of_runs };

  bool relieve(Choice& now, Bytes capacity, By by, const Budget& budget, std::mt19937_64* random);
  void look_at(const Choice& now, std::int64_t step, Bytes capacity, By by, std::mt19937_64* random,
               Choice& best);
  void drop_needless(Choice& now, Bytes capacity);
  void thin_out(Choice& now, std::mt19937_64& random) const;
  std::vector<std::size_t> runs_again(std::span<const int> steps) const;
  OffloadPlan plan_of(Choice&& now) const;

  const OrderInstance& instance_;
  const OrderTable& table_;
  const OffloadParams params_;
  const int halvings_;  // bisection steps between the goal and the peak
  TransferChannels channels_;
  Evictions evictions_;
  std::int64_t counted_ = 0;  // plans evaluated by this object
};

}  // namespace stowage
