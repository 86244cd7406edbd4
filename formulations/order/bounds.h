// Lower bounds on the peak of any order of a graph.
//
//   const OrderTable table(instance);
//   const OperatorBound simple = operator_bound(table);
//   OrderCertificate proof = cut_bound(table, least, op);   // LeastLive least(table);
//
// Proofs are in formulations/README.md under the bounds' names.
#pragma once

#include <array>
#include <string_view>

#include "instances/order/certificate.h"
#include "instances/order/least_live.h"
#include "instances/order/table.h"
#include "instances/units.h"

namespace stowage {

// Names of the bounds that need no search, of those with a certificate, and of those that a search
// or a backend only says.
inline constexpr std::array<std::string_view, 1> kOrderClosedForms = {"operator"};
inline constexpr std::array<std::string_view, 1> kOrderCertified = {"cut"};
inline constexpr std::array<std::string_view, 1> kOrderSearched = {"search"};

// What one operator touches and writes, its workspace, and what lives from the start to the end; or
// all inputs, or all that is live after the last operator [OB1]. The largest of these.
struct OperatorBound {
  static constexpr int kEnds = -1;  // the inputs, or what is left, are the most

  Bytes bytes = 0;
  int op = kEnds;
};
OperatorBound operator_bound(const OrderTable& table);

// The least that is live before operator `op` in any order, with its outputs and workspace, and the
// flow that proves it [OB2]. `least` is of the same table.
OrderCertificate cut_bound(const OrderTable& table, LeastLive& least, int op);

}  // namespace stowage
