// Changes of values of any type that a program built: each location in it, and each value to write
// there.
//
//   for (const Place& place : places_of(instance)) ...       // "4.0.2", with the number of its values
//   change(instance, {.place = "4.0.2", .value = 17});       // the 17th of them; false if there is no such
//
// A place is a number, a text, an enumerator or a container, named by the indices of the members on
// the way.
#pragma once

#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "tests/fuzz/members/struct_members.h"

namespace stowage {

struct Place {
  std::string name;
  std::size_t values = 0;
};

struct Change {
  std::string place;
  std::size_t value = 0;
};

namespace changes {

template <class T>
inline constexpr bool kIsVector = false;
template <class T>
inline constexpr bool kIsVector<std::vector<T>> = true;
template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;
template <class T>
inline constexpr bool kIsMap = false;
template <class K, class T>
inline constexpr bool kIsMap<std::map<K, T>> = true;
template <class T>
inline constexpr bool kIsPair = false;
template <class A, class B>
inline constexpr bool kIsPair<std::pair<A, B>> = true;
template <class T>
inline constexpr bool kIsArray = false;
template <class T, std::size_t N>
inline constexpr bool kIsArray<std::array<T, N>> = true;
template <class T>
inline constexpr bool kIsVariant = false;
template <class... T>
inline constexpr bool kIsVariant<std::variant<T...>> = true;

inline const std::vector<std::string>& texts() {
  static const std::vector<std::string> kTexts = {"",
                                                  "x-",
                                                  std::string("n\0m", 3),
                                                  "n\x1b[1m\nn",
                                                  "\xff\xfe",
                                                  "n\xc0\xaf",
                                                  "n\xed\xa0\x80",
                                                  "n\xe2\x82",
                                                  "\xf4\x90\x80\x80",
                                                  "\xe2\x80\xae\xc2\x9b\xe2\x80\xa8",
                                                  "\"\\<&",
                                                  "none",
                                                  std::string(70'000, 'n')};
  return kTexts;
}

inline constexpr std::array<std::int64_t, 22> kIntegers = {
    0,
    -1,
    1,
    2,
    3,
    7,
    64,
    255,
    1000,
    1'000'000,
    1'000'001,
    (1LL << 30) + 1,
    (1LL << 31) - 1,
    1LL << 31,
    -(1LL << 31),
    1LL << 32,
    1LL << 53,
    (1LL << 53) + 1,
    -(1LL << 53),
    10'000'001,
    std::numeric_limits<std::int64_t>::max(),
    std::numeric_limits<std::int64_t>::min()};

inline constexpr std::array<double, 19> kDoubles = {0.0,
                                                    -0.0,
                                                    -1.0,
                                                    1.0,
                                                    0.5,
                                                    2.0,
                                                    1e-9,
                                                    1e-100,
                                                    1e-308,
                                                    5e-324,
                                                    1e15,
                                                    9007199254740992.0,
                                                    9007199254740994.0,
                                                    1e100,
                                                    std::numeric_limits<double>::max(),
                                                    -std::numeric_limits<double>::max(),
                                                    std::numeric_limits<double>::infinity(),
                                                    -std::numeric_limits<double>::infinity(),
                                                    std::numeric_limits<double>::quiet_NaN()};

// Returns the number of values to write to a location of this type; 0 if the type cannot be one.
template <class T>
constexpr std::size_t values_of() {
  if constexpr (std::same_as<T, bool>)
    return 1;
  else if constexpr (std::is_enum_v<T>)
    return 256;
  else if constexpr (std::integral<T>)
    return kIntegers.size();
  else if constexpr (std::floating_point<T>)
    return kDoubles.size();
  else if constexpr (std::same_as<T, std::string>)
    return 13;
  else if constexpr (kIsVector<T>)
    return 6;
  else if constexpr (kIsOptional<T>)
    return 2;
  else if constexpr (kIsMap<T>)
    return 4;
  else if constexpr (kIsVariant<T>)
    return std::variant_size_v<T>;
  else
    return 0;
}

template <class T, std::size_t I = 0>
void set_alternative(T& value, std::size_t index) {
  if constexpr (I < std::variant_size_v<T>) {
    if (index == I) {
      value.template emplace<I>();
    } else {
      set_alternative<T, I + 1>(value, index);
    }
  }
}

template <class T>
void set(T& value, std::size_t which) {
  if constexpr (std::same_as<T, bool>) {
    value = !value;
  } else if constexpr (std::is_enum_v<T>) {
    value = static_cast<T>(which);
  } else if constexpr (std::integral<T>) {
    value = static_cast<T>(kIntegers[which]);
  } else if constexpr (std::floating_point<T>) {
    value = kDoubles[which];
  } else if constexpr (std::same_as<T, std::string>) {
    value = texts()[which];
  } else if constexpr (kIsVector<T>) {
    if (which == 0) value.clear();
    if (which == 1 && !value.empty()) value.pop_back();
    if (which == 2) value.emplace_back();
    if (which == 3 && !value.empty()) value.push_back(value.front());
    if (which == 4) value.resize(70);
    if (which == 5 && value.size() > 1) std::swap(value.front(), value.back());
  } else if constexpr (kIsOptional<T>) {
    if (which == 0) value.reset();
    if (which == 1) value.emplace();
  } else if constexpr (kIsMap<T>) {
    if (which == 0) value.clear();
    if (which == 1 && !value.empty()) value.erase(value.begin());
    if (which == 2) value[typename T::key_type{}];
    if (which == 3) {
      typename T::key_type key{};
      set(key, 6);
      value[key];
    }
  } else if constexpr (kIsVariant<T>) {
    set_alternative(value, which);
  }
}

// Calls f(name, place) for each place of a value.
template <class T, class F>
void walk(T& value, const std::string& name, F& f) {
  if constexpr (values_of<T>() > 0) f(name, value);
  const auto inside = [&](std::size_t index) { return name + '.' + std::to_string(index); };
  if constexpr (kIsVector<T>) {
    const std::size_t last = value.size() - 1;
    for (std::size_t i = 0; i < value.size(); i = i == 0 && last > 1 ? last / 2
                                                  : i < last         ? last
                                                                     : last + 1) {
      if constexpr (std::same_as<T, std::vector<bool>>)
        break;
      else
        walk(value[i], inside(i), f);
    }
  } else if constexpr (kIsOptional<T>) {
    if (value) walk(*value, inside(0), f);
  } else if constexpr (kIsMap<T>) {
    std::size_t index = 0;
    for (auto& [key, member] : value) walk(member, inside(index++), f);
  } else if constexpr (kIsPair<T>) {
    walk(value.first, inside(0), f);
    walk(value.second, inside(1), f);
  } else if constexpr (kIsArray<T>) {
    for (std::size_t i = 0; i < value.size(); ++i) walk(value[i], inside(i), f);
  } else if constexpr (kIsVariant<T>) {
    std::visit([&](auto& own) { walk(own, inside(value.index()), f); }, value);
  } else if constexpr (std::is_class_v<T> && !std::same_as<T, std::string>) {
    std::size_t index = 0;
    each_member(value, [&](auto& member) { walk(member, inside(index++), f); });
  }
}

}  // namespace changes

template <class T>
std::vector<Place> places_of(T& value) {
  std::vector<Place> all;
  const auto add = [&]<class P>(const std::string& name, P&) {
    all.push_back({name, changes::values_of<P>()});
  };
  changes::walk(value, "", add);
  return all;
}

template <class T>
bool change(T& value, const Change& wanted) {
  bool done = false;
  const auto apply = [&]<class P>(const std::string& name, P& place) {
    if (done || name != wanted.place || wanted.value >= changes::values_of<P>()) return;
    changes::set(place, wanted.value);
    done = true;
  };
  changes::walk(value, "", apply);
  return done;
}

}  // namespace stowage
