// All problem families: a new one adds its include and its name to the list, and nothing else here.
//
//   Plan plan = ...;
//   double value = std::visit([](const auto& any) { return objective_of(any); }, plan);
//   Families::with_name("layout", [&](auto family) { instance = *family.read_instance(text, {}); });
//
// Thread safety: its functions read their arguments and nothing else; any number of threads may
// call them at once.
#pragma once

#include <string_view>
#include <type_traits>
#include <variant>

#include "instances/assign/family.h"
#include "instances/family_list.h"
#include "instances/layout/family.h"
#include "instances/order/family.h"
#include "instances/scatter/family.h"
#include "instances/strategy/family.h"
#include "instances/unit.h"

namespace stowage {

using Families = FamilyList<Scatter, Assign, Layout, Order, StrategyFamily>;

using Instance = Families::Instance;
using Plan = Families::Plan;
using Certificate = Families::Certificate;

// The family of an instance, plan or certificate type.
template <class T>
using FamilyOf = decltype(Families::of<std::remove_cvref_t<T>>());

// The plan type of an instance type.
template <class InstanceT>
struct PlanOf {
  using type = typename FamilyOf<InstanceT>::Plan;
};

// Of the instance's objective.
template <class InstanceT>
constexpr Unit unit_of(const InstanceT& instance) {
  using Family = FamilyOf<InstanceT>;
  if constexpr (requires { Family::unit_of(instance); }) {
    return Family::unit_of(instance);
  } else {
    return Family::unit;
  }
}

// "scatter": of any instance, plan or certificate.
template <class... T>
std::string_view family_name(const std::variant<T...>& any) {
  return Families::names[any.index()];
}

}  // namespace stowage
