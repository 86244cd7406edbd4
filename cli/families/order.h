// The functions of families.h for order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/families/outcome/bound_names.h"
#include "formulations/order/bounds.h"
#include "instances/order/certificate.h"
#include "instances/order/family_traits.h"
#include "instances/order/instance.h"
#include "instances/order/plan.h"
#include "instances/pictures/order/memory.h"
#include "instances/proof.h"
#include "instances/violation.h"

namespace stowage {

// Returns, for instance, "1 514 operators, 2 311 tensors".
std::string size_of(const OrderInstance& instance);

// Returns the names of the methods, separated by commas.
std::string method_list_of(Order);

std::vector<NamedBound> closed_form_bounds_of(const OrderInstance& instance);
// Returns whether operators may run again. The bounds by cuts and by orders alone do not apply to
// such a graph.
inline bool has_reruns(const OrderInstance& instance) {
  return std::ranges::any_of(instance.operators, &OrderOperator::recompute);
}
inline BoundNames bound_names_of(const OrderInstance& instance) {
  if (instance.host) {
    if (instance.objective == OrderObjective::time) return {kHostTimeClosedForms, {}, {}};
    return {kRerunClosedForms, {}, {}};
  }
  if (instance.objective == OrderObjective::time) return {kTimeClosedForms, {}, kOrderSearched};
  if (has_reruns(instance)) return {kRerunClosedForms, {}, kOrderSearched};
  return {kOrderClosedForms, kOrderCertified, kOrderSearched};
}
// Returns the name of the bound that a certificate proves.
inline const char* bound_name_of(const OrderCertificate& certificate) {
  if (certificate.searched) return "search";
  return certificate.forced.empty() ? "cut" : "forced";
}
// Returns the optimum by enumeration if the graph has few operators.
std::optional<NamedBound> tried_again_of(const OrderInstance& instance, double claimed);

// Returns violations for bounds of rows that exceed the recomputed bounds of their operators.
// Requires a plan that verify() accepts.
std::vector<Violation> parts_claimed_of(const OrderInstance& instance, const OrderPlan& plan);

std::vector<std::string> infeasibility_of(const OrderInstance& instance,
                                          const std::vector<std::int64_t>& unplaceable);

// An order has only operators and no other parts. If sizes depend on a length, it also has rows of
// lengths.
constexpr std::string_view parts_of(const OrderInstance&) { return ""; }
// Returns, for instance, "3 rows of lengths, worst gap 3.85%", or an empty string without rows.
std::string detail_of(const OrderPlan& plan);
inline std::int64_t part_count_of(const OrderPlan&) { return 0; }

inline Picture picture_of(const OrderInstance& instance, const OrderPlan& plan,
                          const ShownBounds& bounds) {
  return order_memory(instance, plan, bounds);
}
inline std::optional<Picture> exchange_of(const OrderInstance&) { return std::nullopt; }
inline std::optional<Picture> lengths_of(const OrderInstance&, const OrderPlan&) {
  return std::nullopt;
}
std::vector<std::pair<std::string, std::string>> facts_of(const OrderInstance& instance,
                                                          const OrderPlan& plan);

}  // namespace stowage
