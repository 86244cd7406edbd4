// A list of problem families, with the tools for code that works on any family: the variants of
// their types, and the ways to get from a name or a type to the family.
//
//   struct Scatter {                          // instances/scatter/family_traits.h
//     using Instance = ScatterInstance;
//     using Plan = ScatterPlan;
//     using Certificate = ScatterCertificate;  // or NoCertificate<Scatter>
//     static constexpr std::string_view name = "scatter";
//     ...
//   };
//   using Families = FamilyList<Scatter, Assign, Layout>;
//
// Each property that differs between families is a member of these structs, or a function that is
// overloaded for their types. A family that lacks a property is a compile error that names the
// family.
//
// Thread safety: its functions read their arguments and nothing else; any number of threads may
// call them at once.
#pragma once

#include <array>
#include <string_view>
#include <type_traits>
#include <variant>

namespace stowage {

// The certificate type of a family whose bounds are all formulas.
template <class Family>
struct NoCertificate {};

template <class... Family>
struct FamilyList {
  using Instance = std::variant<typename Family::Instance...>;
  using Plan = std::variant<typename Family::Plan...>;
  using Certificate = std::variant<typename Family::Certificate...>;

  static constexpr std::array<std::string_view, sizeof...(Family)> names = {Family::name...};

  // Calls act(Family{}) for the family called `name`; returns false if no family has that name.
  template <class Act>
  static bool with_name(std::string_view name, Act&& act) {
    return ((name == Family::name && (act(Family{}), true)) || ...);
  }

  // Calls act(Family{}) for every family, in their order.
  template <class Act>
  static void each(Act&& act) {
    (act(Family{}), ...);
  }

  // The family that T is the instance, the plan or the certificate of.
  template <class T>
  static constexpr auto of() {
    return of_type<T, Family...>();
  }

 private:
  template <class T, class First, class... Rest>
  static constexpr auto of_type() {
    if constexpr (std::is_same_v<T, typename First::Instance> ||
                  std::is_same_v<T, typename First::Plan> ||
                  std::is_same_v<T, typename First::Certificate>) {
      return First{};
    } else {
      static_assert(sizeof...(Rest) > 0, "a type of no family");
      return of_type<T, Rest...>();
    }
  }
};

}  // namespace stowage
