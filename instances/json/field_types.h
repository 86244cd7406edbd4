// The types that members of JSON objects can have (fields.h).
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

#include "instances/json/reader.h"

namespace stowage {

// T is U or const U, so that one list serves reading and writing.
template <class T, class U>
concept Of = std::same_as<std::remove_const_t<T>, U>;

template <class T>
concept Whole = std::integral<T> && !std::same_as<T, bool>;

template <class T>
inline constexpr bool kIsVector = false;
template <class T>
inline constexpr bool kIsVector<std::vector<T>> = true;
template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;

using Integers = std::vector<std::int64_t>;

// The element type of a vector or an optional, at any depth; otherwise the type itself.
template <class T>
struct Held {
  using type = T;
};
template <class T>
struct Held<const T> : Held<T> {};
template <class T>
struct Held<std::vector<T>> : Held<T> {};
template <class T>
struct Held<std::optional<T>> : Held<T> {};

struct NoRange {};

// The limits that a member's numbers can have.
template <class T, class Number = typename Held<T>::type>
using RangeOf =
    std::conditional_t<Whole<Number>, IntegerRange,
                       std::conditional_t<std::floating_point<Number>, NumberRange, NoRange>>;

}  // namespace stowage
