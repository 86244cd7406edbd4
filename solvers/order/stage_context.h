// The context that the stages of one order solve share. Not installed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "formulations/order/bounds.h"
#include "formulations/order/forced.h"
#include "heuristics/order/commit_search.h"
#include "heuristics/order/order_lns.h"
#include "instances/order/certificate.h"
#include "instances/order/instance.h"
#include "instances/order/planning_table.h"
#include "instances/units.h"
#include "solvers/family_solve.h"
#include "solvers/order/params.h"
#include "solvers/stage.h"

namespace stowage {

struct OrderContext : SolveContext<OrderInstance> {
  std::optional<Refutation>& refuted;  // set by a stage that proves that no order exists
  const OrderParams params;
  const OrderTable table;

  std::vector<int> best = {};          // the best order known, within the capacity or above it
  Bytes peak = 0;                      // peak of `best` in bytes
  std::vector<Bytes> least_need = {};  // least need of each operator's step in any known order
  std::vector<char> cut = {};          // by operator: 1 if its cut bound is known
  std::optional<OrderCertificate> certificate = {};  // the certificate that the checker confirmed
  std::optional<CommitSearch> search = {};
  std::vector<ForcedStep> forced = {};    // precedences that every better order keeps
  std::optional<OrderTable> narrow = {};  // the table with the forced precedences
  int narrow_orders = 0;                  // orders improved with the forced precedences
  Bytes stuck = kMaxExact + 1;    // cuts do not prove that every order needs this many bytes
  std::int64_t forced_boost = 1;  // doubled by each round in which forced precedences raise a bound

  bool has_order() const { return !best.empty() || table.operators() == 0; }
  bool searches() const { return options.method == "auto" || options.method == "exact"; }
  // Returns true if the solve stops before the next stage.
  bool done() const {
    return refuted || budget.exhausted() || incumbent.proven() || incumbent.within(options.gap);
  }
  Bytes bound() const { return static_cast<Bytes>(incumbent.bound()); }
  // Returns the peak in bytes that a better order must stay below.
  Bytes wanted() const { return instance.capacity ? std::min(peak, *instance.capacity + 1) : peak; }

  // Lowers the least need of every operator to its need in this order. No operator's bound can be
  // higher than its least need.
  void learn_needs(const std::vector<int>& order);
  // Keeps the order if its peak is lower, and submits it if it keeps the capacity.
  void take(const std::vector<int>& order, char source, const char* by);
  void raise(const char* name, Bytes bound);
  // Raises the bound if the checker confirms the certificate. Returns true if it does.
  bool confirm(OrderCertificate proof, const char* name);
};

}  // namespace stowage
