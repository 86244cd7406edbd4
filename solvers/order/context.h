// The state that the stages of one order solve share. Not installed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "formulations/order/bounds.h"
#include "formulations/order/forced.h"
#include "heuristics/order/commit_search.h"
#include "heuristics/order/windows.h"
#include "instances/order/certificate.h"
#include "instances/order/instance.h"
#include "instances/order/table.h"
#include "instances/units.h"
#include "solvers/family_solve.h"
#include "solvers/order/params.h"
#include "solvers/stage.h"

namespace stowage {

struct OrderContext : SolveContext<OrderInstance> {
  std::optional<Refutation>& refuted;  // set by a stage that proves that there is no order
  const OrderParams params;
  const OrderTable table;

  std::vector<int> best = {};          // the best order known, within the capacity or above it
  Bytes peak = 0;                      // of it
  std::vector<Bytes> least_need = {};  // of an operator's step, in any order known
  std::vector<char> cut = {};          // by operator: its cut is known
  std::optional<OrderCertificate> certificate = {};  // confirmed
  std::optional<CommitSearch> search = {};
  std::vector<ForcedStep> forced = {};    // precedences that every better order keeps
  std::optional<OrderTable> narrow = {};  // with these precedences
  int narrow_orders = 0;                  // that were improved
  Bytes stuck = kMaxExact + 1;            // cuts do not prove that no order is below this
  std::int64_t forced_boost = 1;  // doubled by each round in which forced precedences raise a bound

  bool has_order() const { return !best.empty() || table.operators() == 0; }
  bool searches() const { return options.method == "auto" || options.method == "exact"; }
  // Returns whether the solve stops before the next stage.
  bool done() const {
    return refuted || budget.exhausted() || incumbent.proven() || incumbent.within(options.gap);
  }
  Bytes bound() const { return static_cast<Bytes>(incumbent.bound()); }
  // A better order has a peak below this.
  Bytes wanted() const { return instance.capacity ? std::min(peak, *instance.capacity + 1) : peak; }

  // Lowers the least need of every operator to its need in this order: no bound of an operator can
  // be higher.
  void learn_needs(const std::vector<int>& order);
  // Keeps the order if its peak is lower, and offers it if it keeps the capacity.
  void take(const std::vector<int>& order, char source, const char* by);
  void raise(const char* name, Bytes bound);
  // Raises the bound if the checker confirms the certificate. Returns whether it does.
  bool confirm(OrderCertificate proof, const char* name);
};

}  // namespace stowage
