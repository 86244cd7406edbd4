// Computes by cuts precedences that every order with a peak below a number of bytes keeps, or
// proves that no such order exists [OB9].
//
//   const ForcedOrder found = force_order(instance, below, {}, 10'000, budget);
//   if (found.proof) ...        // no order has a peak below found.proof->bound_bytes
//   use(found.steps);           // precedences that every order with a peak below `below` keeps
//
// If operator v needs at least `below` bytes after u has run, u runs after v. If v needs at least
// `below` bytes unless u has run, u runs before v. Each such precedence leaves fewer sets of
// operators for the following cuts. The proof is in docs/theory/order.md under the bound's name.
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
  Bytes need = 0;  // bound on the need of its operator without the precedence
};

struct ForcedOrder {
  std::vector<ForcedStep> steps;  // the known steps and new ones; each relies on those before it
  std::optional<OrderCertificate> proof;
  bool complete = false;  // cuts force no further precedence
  std::int64_t cuts = 0;  // number of cuts computed
};

// Requires a graph for which most_forced_of() is not 0, without further runs and without a host,
// and steps of a call with the same or a larger `below`. Stops after `cuts` cuts, at the limit of
// steps in a certificate, or when the budget is exhausted. A cut takes near linear time. The
// precedences take n²/4 bytes.
ForcedOrder force_order(const OrderInstance& instance, Bytes below,
                        const std::vector<ForcedStep>& known, std::int64_t cuts,
                        const Budget& budget);

// Returns the instance with these precedences added to its own.
OrderInstance with_precedences(OrderInstance instance, const std::vector<ForcedStep>& steps);

}  // namespace stowage
