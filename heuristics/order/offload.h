// Fits runs into a capacity with a host: a tensor that is in the way goes there and comes back, or
// is dropped and made again before its next use, whichever costs less time.
//
// Of the tensors that live across the step that needs most and are not touched there, each may be
// away from its use before to its use behind (channels.h), or be made again as in evictions.h. What
// relieves most bytes above the capacity, over all steps, for the time that it adds to the plan
// goes first: a transfer that no run waits for adds none. Where the host is small, what relieves
// most bytes at any cost may get further; both are tried.
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

#include "heuristics/order/channels.h"
#include "heuristics/order/evictions.h"
#include "heuristics/order/params.h"
#include "instances/budget.h"
#include "instances/order/instance.h"
#include "instances/order/plan.h"
#include "instances/order/table.h"

namespace stowage {

struct OffloadPlan {
  std::vector<int> steps;
  std::vector<Away> aways;
  std::vector<OrderTransfer> transfers;
  Ms time_ms = 0;
  Bytes peak = 0;
};

class Offload {
 public:
  // Both must outlive this. Requires a host.
  Offload(const OrderInstance& instance, const OrderTable& table,
          const OrderHeuristicParams& params = {});

  // Of the order with runs again and transfers within the capacity, none of them needless; nothing
  // if the greedy choice does not get there. Where the objective is the peak, no run waits.
  std::optional<OffloadPlan> within(std::span<const int> steps, Bytes capacity,
                                    const Budget& budget);

  // The least peak that the greedy choice reaches, from above the goal by halves; without transfers
  // at worst.
  OffloadPlan lowest(std::span<const int> steps, Bytes goal, const Budget& budget);

  // Of the order with these tensors away, and no others; runs again as the capacity asks for them.
  // Nothing if they do not get there. Where the objective is the peak, without runs again.
  std::optional<OffloadPlan> with_runs_again(std::span<const int> steps, std::vector<Away> aways,
                                             Bytes capacity, const Budget& budget);

  // Takes some transfers and runs again away and chooses anew, blurred; keeps what takes less time
  // within the capacity, or has a smaller peak. Counts out about so many plans, and says how many.
  std::int64_t improve(OffloadPlan& plan, Bytes capacity, std::int64_t most, std::uint64_t seed,
                       const Budget& budget);

 private:
  struct Choice {
    std::vector<int> steps;
    std::vector<Away> aways;
    Channels::Layout layout;
    double score = 0;
  };

  bool timed() const { return instance_.objective == OrderObjective::time; }
  bool good(const Channels::Layout& layout) const;
  Choice laid(std::vector<int> steps, std::vector<Away> aways, Bytes capacity);
  // What goes first: the most bytes for their time, or the most bytes. By cost_of_runs only runs
  // again are chosen, for their time, beside the transfers that there are.
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
  const int halvings_;  // of the way from the goal to the peak
  Channels channels_;
  Evictions evictions_;
  std::int64_t counted_ = 0;  // plans, since the beginning
};

}  // namespace stowage
