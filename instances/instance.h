// An instance, or a plan, of any problem family.
//
//   Instance instance = ScatterInstance{...};
//   Plan plan = ...;
//   double value = std::visit([](const auto& any) { return objective_of(any); }, plan);
//
// Functions that only read an instance or plan take an InstanceView or a PlanView. A view is made
// of a variant or of one family's type and copies nothing: solve(step, ...) takes an Instance or a
// ScatterInstance.
//
// Thread safety: plain data; its functions read their arguments and nothing else; any number of
// threads may call them at once.
#pragma once

#include <concepts>
#include <cstddef>
#include <string_view>
#include <variant>

#include "instances/assign/instance.h"
#include "instances/assign/plan.h"
#include "instances/layout/instance.h"
#include "instances/layout/plan.h"
#include "instances/order/instance.h"
#include "instances/order/plan.h"
#include "instances/scatter/instance.h"
#include "instances/scatter/plan.h"
#include "instances/strategy/instance.h"
#include "instances/strategy/plan.h"

namespace stowage {

// The types stand in the order of Families (families.h).
using Instance =
    std::variant<ScatterInstance, AssignInstance, LayoutInstance, OrderInstance, StrategyInstance>;
using Plan = std::variant<ScatterPlan, AssignPlan, LayoutPlan, OrderPlan, StrategyPlan>;

template <class Variant>
class FamilyView;

// A read-only view of an instance or plan of any family. A view holds an address: its object must
// outlive it.
template <class... Own>
class FamilyView<std::variant<Own...>> {
 public:
  // Requires a variant that has a value.
  FamilyView(const std::variant<Own...>& any);  // NOLINT(*-explicit-*)
  template <class T>
  // NOLINTNEXTLINE(*-explicit-*)
  requires(std::same_as<T, Own> || ...) FamilyView(const T& own) : own_(&own) {}

  std::size_t index() const { return own_.index(); }  // the index that the variant has

  // These two work as std::visit() and std::get() do for the variant.
  template <class F>
  decltype(auto) visit(F&& f) const {
    return std::visit([&](const auto* own) -> decltype(auto) { return f(*own); }, own_);
  }
  template <class T>
  const T& get() const {
    return *std::get<const T*>(own_);
  }
  template <class T>
  const T* get_if() const {
    const auto* const own = std::get_if<const T*>(&own_);
    return own == nullptr ? nullptr : *own;
  }

 private:
  std::variant<const Own*...> own_;
};
using InstanceView = FamilyView<Instance>;
using PlanView = FamilyView<Plan>;

// Return "scatter", "assign", "layout", "order" or "strategy".
std::string_view family_name(const InstanceView& instance);
std::string_view family_name(const PlanView& plan);

}  // namespace stowage
