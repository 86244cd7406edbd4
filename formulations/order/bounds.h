// Lower bounds on the peak, or the time, of any plan of a graph.
//
//   const OrderTable table(instance);
//   const OperatorBound simple = operator_bound(table);
//   OrderCertificate proof = cut_bound(table, least, op);   // LeastLive least(table);
//
// Proofs are in formulations/README.md under the bounds' names.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "instances/order/certificate.h"
#include "instances/order/least_live.h"
#include "instances/order/table.h"
#include "instances/units.h"

namespace stowage {

// Names of the bounds that need no search, of those with a certificate, and of those that a search
// or a backend only says, as a search that went through more sets than a check may.
inline constexpr std::array<std::string_view, 1> kOrderClosedForms = {"operator"};
inline constexpr std::array<std::string_view, 2> kOrderCertified = {"cut", "forced"};
inline constexpr std::array<std::string_view, 1> kOrderSearched = {"search"};
// The same where operators may run again: neither cuts nor the search over sets of operators say
// anything then. And of the time.
inline constexpr std::array<std::string_view, 2> kRerunClosedForms = {"operator", "kept"};
inline constexpr std::array<std::string_view, 2> kTimeClosedForms = {"work", "dropped"};
// The time where tensors may be on a host. No search bounds such plans.
inline constexpr std::array<std::string_view, 2> kHostTimeClosedForms = {"work", "moved"};

// What one operator touches and writes, its workspace, and, without a host, what lives from the
// start to the end; or all inputs, or all that is live after the last operator [OB1]. The largest
// of these.
struct OperatorBound {
  static constexpr int kEnds = -1;  // the inputs, or what is left, are the most

  Bytes bytes = 0;
  int op = kEnds;
};
OperatorBound operator_bound(const OrderTable& table);

// What operators need at their first run, and what time that costs, however often others run.
struct RerunBounds {
  // What some operator needs with all that it waits for, that is needed behind it, and that cannot
  // be made again [OB4]; with a host, less what that can hold; at least the operator bound.
  Bytes kept = 0;
  // The times of all, each once [OB5]; without a host also the least time to make again what must
  // be dropped at some operator within `capacity` [OB6]; with one, the least time in which what
  // must be on the host at some operator gets there and back [OB8].
  Ms work_ms = 0;
  Ms dropped_ms = 0;
  Ms moved_ms = 0;
};
// O(n (n + E)); of graphs beyond 200 million such steps the first operators only are looked at.
RerunBounds rerun_bounds(const OrderTable& table, std::optional<Bytes> capacity);

// What operator `op` needs at its first run, whatever runs again [OB4]; the largest of all, with
// the operator bound, is RerunBounds::kept. O(n + E).
Bytes kept_bound(const OrderTable& table, int op);

// The least that is live before operator `op` in any order, with its outputs and workspace, and the
// flow that proves it [OB2]. `least` is of the same table.
OrderCertificate cut_bound(const OrderTable& table, LeastLive& least, int op);

}  // namespace stowage
