// Who must run before whom in every order with a peak below some number of bytes, by cuts, and
// whether there is such an order at all [OB9].
//
//   const ForcedOrder found = force_order(instance, below, {}, 10'000, budget);
//   if (found.proof) ...        // no order has a peak below found.proof->bound_bytes
//   use(found.steps);           // precedences that every order with a peak below `below` keeps
//
// Where operator v needs `below` or more at its step once u has run, u runs behind v; where it does
// unless u has run, u runs before v. Each such precedence leaves fewer sets of operators to the
// cuts that follow. The proof is in formulations/README.md under the bound's name.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "instances/budget.h"
#include "instances/order/certificate.h"
#include "instances/order/instance.h"
#include "instances/units.h"

namespace stowage {

struct ForcedStep {
  ForcedPrecedence precedence;
  Bytes need = 0;  // of its operator without it, at least
};

struct ForcedOrder {
  std::vector<ForcedStep> steps;  // those that were known, and new ones; each due to those before
  std::optional<OrderCertificate> proof;
  bool complete = false;  // cuts force nothing more
  std::int64_t cuts = 0;  // that were made
};

// Requires a graph for which most_forced_of() is not 0, none of whose operators may run again, no
// host, and steps of a call with the same `below` or a larger one. Stops after so many cuts, with
// as many steps as a certificate may list, or when the budget is exhausted. A cut takes near linear
// time; the precedences take n²/4 bytes.
ForcedOrder force_order(const OrderInstance& instance, Bytes below,
                        const std::vector<ForcedStep>& known, std::int64_t cuts,
                        const Budget& budget);

// The instance with these precedences as others of its own.
OrderInstance with_precedences(OrderInstance instance, const std::vector<ForcedStep>& steps);

}  // namespace stowage
