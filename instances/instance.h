// Any instance and any plan: the families side by side. Adding a family adds lines here.
//
//   Plan plan = ...;
//   double value = std::visit([](const auto& any) { return objective_of(any); }, plan);
//
// Thread safety: plain data; its functions read their arguments and nothing else; any number of
// threads may call them at once.
#pragma once

#include <string>
#include <utility>
#include <variant>

#include "instances/assign/certificate.h"
#include "instances/assign/instance.h"
#include "instances/assign/plan.h"
#include "instances/layout/instance.h"
#include "instances/layout/plan.h"
#include "instances/scatter/certificate.h"
#include "instances/scatter/instance.h"
#include "instances/scatter/plan.h"

namespace stowage {

using Instance = std::variant<ScatterInstance, AssignInstance, LayoutInstance>;
using Plan = std::variant<ScatterPlan, AssignPlan, LayoutPlan>;
// The families whose bounds can be proven by more than a formula.
using Certificate = std::variant<ScatterCertificate, AssignCertificate>;

// The plan type of an instance type.
template <class InstanceT>
struct PlanOf;
template <>
struct PlanOf<ScatterInstance> {
  using type = ScatterPlan;
};
template <>
struct PlanOf<AssignInstance> {
  using type = AssignPlan;
};
template <>
struct PlanOf<LayoutInstance> {
  using type = LayoutPlan;
};

// What every plan says of itself, in the unit of its family.
inline double objective_of(const ScatterPlan& plan) { return plan.objective_ms; }
inline double bound_of(const ScatterPlan& plan) { return plan.bound_ms; }
inline void state_bound(ScatterPlan& plan, double bound, std::string by) {
  plan.bound_ms = bound;
  plan.bound_by = std::move(by);
}

inline double objective_of(const AssignPlan& plan) { return plan.objective_ms; }
inline double bound_of(const AssignPlan& plan) { return plan.bound_ms; }
inline void state_bound(AssignPlan& plan, double bound, std::string by) {
  plan.bound_ms = bound;
  plan.bound_by = std::move(by);
}

inline double objective_of(const LayoutPlan& plan) { return static_cast<double>(plan.peak_bytes); }
inline double bound_of(const LayoutPlan& plan) { return static_cast<double>(plan.bound_bytes); }
inline void state_bound(LayoutPlan& plan, double bound, std::string by) {
  plan.bound_bytes = static_cast<Bytes>(bound);  // exact: bytes stay within 2^53
  plan.bound_by = std::move(by);
}

}  // namespace stowage
