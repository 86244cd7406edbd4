// The context that the stages of one order solve share if operators may run again or tensors may be
// offloaded to a host. Not installed.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "formulations/order/bounds.h"
#include "heuristics/order/recompute/rerun_search.h"
#include "heuristics/order/recompute/reruns.h"
#include "instances/numeric/numbers.h"
#include "instances/order/instance.h"
#include "instances/order/planning_table.h"
#include "instances/units.h"
#include "solvers/family_solve.h"
#include "solvers/order/host_plans.h"
#include "solvers/order/params.h"
#include "solvers/stage.h"

namespace stowage {

struct RerunContext : SolveContext<OrderInstance> {
  std::optional<Refutation>& refuted;  // set by a stage that proves that no plan exists
  const OrderParams params;
  const OrderTable table;

  RerunBounds known = {};
  std::vector<int> low = {};  // the one-pass order with the lowest peak
  std::optional<RerunSearch> search = {};
  std::optional<RerunWalk> walk = {};
  std::int64_t walk_plans = 0;  // plans of the next walk; 0: the first walk is next
  std::optional<HostPlans> host = {};

  bool searches() const { return options.method == "auto" || options.method == "exact"; }
  bool timed() const { return instance.objective == OrderObjective::time; }
  Bytes capacity() const { return instance.capacity.value_or(kMaxExact); }
  // Returns true if the solve stops before the next stage.
  bool done() const {
    return refuted || budget.exhausted() || incumbent.proven() || incumbent.within(options.gap);
  }
  Bytes bound_bytes() const { return timed() ? 0 : static_cast<Bytes>(incumbent.bound()); }

  // Submits the plan of these steps if it keeps the capacity.
  void take(const std::vector<int>& steps, char source, const char* by);
};

}  // namespace stowage
