// Lower bounds on the peak, or the time, of any plan of a graph.
//
//   const OrderTable table(instance);
//   const OperatorBound simple = operator_bound(table);
//   OrderCertificate proof = cut_bound(table, least, op);   // LeastLive least(table);
//
// Proofs are in docs/theory/order.md under the bounds' names.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "instances/order/certificate.h"
#include "instances/order/memory/least_live_cut.h"
#include "instances/order/planning_table.h"
#include "instances/units.h"

namespace stowage {

// Names of the bounds that need no search, of those with a certificate, and of those that only a
// search proves, namely a search over more sets than a check may visit.
inline constexpr std::array<std::string_view, 1> kOrderClosedForms = {"operator"};
inline constexpr std::array<std::string_view, 2> kOrderCertified = {"cut", "forced"};
inline constexpr std::array<std::string_view, 1> kOrderSearched = {"search"};
// The same if operators may run again: then neither cuts nor the search over sets of operators give
// bounds. The second list has the bounds on the time.
inline constexpr std::array<std::string_view, 2> kRerunClosedForms = {"operator", "kept"};
inline constexpr std::array<std::string_view, 2> kTimeClosedForms = {"work", "dropped"};
// Bounds on the time if tensors may be on a host. No search bounds such plans.
inline constexpr std::array<std::string_view, 2> kHostTimeClosedForms = {"work", "moved"};

// The largest of three needs [OB1]: of an operator (inputs, outputs, workspace and, without a host,
// tensors that live from start to end), of all inputs, and of the tensors that are live after the
// last operator.
struct OperatorBound {
  static constexpr int kEnds = -1;  // the inputs, or the tensors left at the end, need most

  Bytes bytes = 0;
  int op = kEnds;
};
OperatorBound operator_bound(const OrderTable& table);

// Bounds on the bytes of operators at their first run and on the time, for any number of further
// runs.
struct RerunBounds {
  // The largest need of an operator with all tensors that it touches, and tensors that are needed
  // after it and cannot be made again [OB4]. With a host, its capacity is subtracted. At least the
  // operator bound.
  Bytes kept = 0;
  // work_ms: the time of one run of each operator [OB5]. dropped_ms: without a host, also the least
  // time to make again the tensors that must be dropped at some operator within `capacity` [OB6].
  // moved_ms: with a host, the least time in which the tensors that must be on the host at some
  // operator are sent and fetched [OB8].
  Ms work_ms = 0;
  Ms dropped_ms = 0;
  Ms moved_ms = 0;
};
// O(n (n + E)). If that exceeds 200 million steps, the first operators alone are considered.
RerunBounds rerun_bounds(const OrderTable& table, std::optional<Bytes> capacity);

// Returns the need in bytes of operator `op` at its first run, for any further runs [OB4]. The
// largest over all operators, and the operator bound, give RerunBounds::kept. O(n + E).
Bytes kept_bound(const OrderTable& table, int op);

// Returns a bound on the live bytes at operator `op` in any order, with its outputs and workspace,
// and the flow that proves it [OB2]. `least` must be of the same table.
OrderCertificate cut_bound(const OrderTable& table, LeastLive& least, int op);

}  // namespace stowage
