// All problem families: a new one adds its include and its name to the list, its types to
// instance.h, and nothing else here.
//
//   Families::with_name("layout", [&](auto family) { instance = *family.read_instance(text, {}); });
#pragma once

#include <string_view>
#include <type_traits>
#include <variant>

#include "instances/assign/family_traits.h"
#include "instances/family_list.h"
#include "instances/instance.h"
#include "instances/layout/family_traits.h"
#include "instances/order/family_traits.h"
#include "instances/proof.h"
#include "instances/scatter/family_traits.h"
#include "instances/strategy/family_traits.h"
#include "instances/unit.h"

namespace stowage {

using Families = FamilyList<Scatter, Assign, Layout, Order, StrategyFamily>;

static_assert(std::is_same_v<Instance, Families::Instance> && std::is_same_v<Plan, Families::Plan>,
              "instance.h names other families, or in another order");

// The certificate of one family: a std::variant for std::visit() and std::get().
struct Certificate::Any : Families::Certificate {
  using Families::Certificate::variant;
};

// The family of an instance, plan or certificate type.
template <class T>
using FamilyOf = decltype(Families::of<std::remove_cvref_t<T>>());

// The plan type of an instance type.
template <class InstanceT>
struct PlanOf {
  using type = typename FamilyOf<InstanceT>::Plan;
};

// Calls f(instance, other), where `other` is the plan or certificate. Throws
// std::bad_variant_access if the two belong to different families.
template <class F>
decltype(auto) visit_both(F&& f, const InstanceView& instance, const PlanView& plan) {
  return instance.visit([&]<class I>(const I& own) -> decltype(auto) {
    return f(own, plan.get<typename FamilyOf<I>::Plan>());
  });
}
template <class F>
decltype(auto) visit_both(F&& f, const InstanceView& instance, const Certificate::Any& any) {
  return instance.visit([&]<class I>(const I& own) -> decltype(auto) {
    return f(own, std::get<typename FamilyOf<I>::Certificate>(any));
  });
}

// Returns the unit of the instance's objective.
template <class InstanceT>
constexpr Unit unit_of(const InstanceT& instance) {
  using Family = FamilyOf<InstanceT>;
  if constexpr (requires { Family::unit_of(instance); }) {
    return Family::unit_of(instance);
  } else {
    return Family::unit;
  }
}

}  // namespace stowage
