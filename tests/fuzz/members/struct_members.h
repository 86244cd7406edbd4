// The members of a struct, without naming them, so that a new one is visited by being there. Longer
// than needed to say so, because C++20 has one pattern for each number of members.
//
//   each_member(instance, [](auto& member) { ... });   // in the order of declaration
//
// Works for aggregates of at most 24 members, none of which is a reference or a C array.
#pragma once

#include <cstddef>
#include <type_traits>

namespace stowage {

// Stands for any member where braces initialise a struct.
struct AnyMember {
  template <class T>
  operator T() const;  // NOLINT(*-explicit-*): never defined
};

template <class T, class... Members>
constexpr std::size_t member_count() {
  if constexpr (requires { T{Members{}..., AnyMember{}}; }) {
    return member_count<T, Members..., AnyMember>();
  } else {
    return sizeof...(Members);
  }
}

template <class T, class F>
void each_member(T& value, F f) {
  static_assert(std::is_aggregate_v<T>);
  constexpr std::size_t kCount = member_count<T>();
  static_assert(kCount <= 24, "write another pattern");
  if constexpr (kCount == 1) {
    auto& [m0] = value;
    (f(m0));
  }
  if constexpr (kCount == 2) {
    auto& [m0, m1] = value;
    (f(m0), f(m1));
  }
  if constexpr (kCount == 3) {
    auto& [m0, m1, m2] = value;
    (f(m0), f(m1), f(m2));
  }
  if constexpr (kCount == 4) {
    auto& [m0, m1, m2, m3] = value;
    (f(m0), f(m1), f(m2), f(m3));
  }
  if constexpr (kCount == 5) {
    auto& [m0, m1, m2, m3, m4] = value;
    (f(m0), f(m1), f(m2), f(m3), f(m4));
  }
  if constexpr (kCount == 6) {
    auto& [m0, m1, m2, m3, m4, m5] = value;
    (f(m0), f(m1), f(m2), f(m3), f(m4), f(m5));
  }
  if constexpr (kCount == 7) {
    auto& [m0, m1, m2, m3, m4, m5, m6] = value;
    (f(m0), f(m1), f(m2), f(m3), f(m4), f(m5), f(m6));
  }
  if constexpr (kCount == 8) {
    auto& [m0, m1, m2, m3, m4, m5, m6, m7] = value;
    (f(m0), f(m1), f(m2), f(m3), f(m4), f(m5), f(m6), f(m7));
  }
  if constexpr (kCount == 9) {
    auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8] = value;
    (f(m0), f(m1), f(m2), f(m3), f(m4), f(m5), f(m6), f(m7), f(m8));
  }
  if constexpr (kCount == 10) {
    auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9] = value;
    (f(m0), f(m1), f(m2), f(m3), f(m4), f(m5), f(m6), f(m7), f(m8), f(m9));
  }
  if constexpr (kCount == 11) {
    auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10] = value;
    (f(m0), f(m1), f(m2), f(m3), f(m4), f(m5), f(m6), f(m7), f(m8), f(m9), f(m10));
  }
  if constexpr (kCount == 12) {
    auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11] = value;
    (f(m0), f(m1), f(m2), f(m3), f(m4), f(m5), f(m6), f(m7), f(m8), f(m9), f(m10), f(m11));
  }
  if constexpr (kCount == 13) {
    auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12] = value;
    (f(m0), f(m1), f(m2), f(m3), f(m4), f(m5), f(m6), f(m7), f(m8), f(m9), f(m10), f(m11), f(m12));
  }
  if constexpr (kCount == 14) {
    auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13] = value;
    (f(m0), f(m1), f(m2), f(m3), f(m4), f(m5), f(m6), f(m7), f(m8), f(m9), f(m10), f(m11), f(m12),
     f(m13));
  }
  if constexpr (kCount == 15) {
    auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14] = value;
    (f(m0), f(m1), f(m2), f(m3), f(m4), f(m5), f(m6), f(m7), f(m8), f(m9), f(m10), f(m11), f(m12),
     f(m13), f(m14));
  }
  if constexpr (kCount == 16) {
    auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15] = value;
    (f(m0), f(m1), f(m2), f(m3), f(m4), f(m5), f(m6), f(m7), f(m8), f(m9), f(m10), f(m11), f(m12),
     f(m13), f(m14), f(m15));
  }
  if constexpr (kCount == 17) {
    auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16] = value;
    (f(m0), f(m1), f(m2), f(m3), f(m4), f(m5), f(m6), f(m7), f(m8), f(m9), f(m10), f(m11), f(m12),
     f(m13), f(m14), f(m15), f(m16));
  }
  if constexpr (kCount == 18) {
    auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17] = value;
    (f(m0), f(m1), f(m2), f(m3), f(m4), f(m5), f(m6), f(m7), f(m8), f(m9), f(m10), f(m11), f(m12),
     f(m13), f(m14), f(m15), f(m16), f(m17));
  }
  if constexpr (kCount == 19) {
    auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18] =
        value;
    (f(m0), f(m1), f(m2), f(m3), f(m4), f(m5), f(m6), f(m7), f(m8), f(m9), f(m10), f(m11), f(m12),
     f(m13), f(m14), f(m15), f(m16), f(m17), f(m18));
  }
  if constexpr (kCount == 20) {
    auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18,
           m19] = value;
    (f(m0), f(m1), f(m2), f(m3), f(m4), f(m5), f(m6), f(m7), f(m8), f(m9), f(m10), f(m11), f(m12),
     f(m13), f(m14), f(m15), f(m16), f(m17), f(m18), f(m19));
  }
  if constexpr (kCount == 21) {
    auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19,
           m20] = value;
    (f(m0), f(m1), f(m2), f(m3), f(m4), f(m5), f(m6), f(m7), f(m8), f(m9), f(m10), f(m11), f(m12),
     f(m13), f(m14), f(m15), f(m16), f(m17), f(m18), f(m19), f(m20));
  }
  if constexpr (kCount == 22) {
    auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19,
           m20, m21] = value;
    (f(m0), f(m1), f(m2), f(m3), f(m4), f(m5), f(m6), f(m7), f(m8), f(m9), f(m10), f(m11), f(m12),
     f(m13), f(m14), f(m15), f(m16), f(m17), f(m18), f(m19), f(m20), f(m21));
  }
  if constexpr (kCount == 23) {
    auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19,
           m20, m21, m22] = value;
    (f(m0), f(m1), f(m2), f(m3), f(m4), f(m5), f(m6), f(m7), f(m8), f(m9), f(m10), f(m11), f(m12),
     f(m13), f(m14), f(m15), f(m16), f(m17), f(m18), f(m19), f(m20), f(m21), f(m22));
  }
  if constexpr (kCount == 24) {
    auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19,
           m20, m21, m22, m23] = value;
    (f(m0), f(m1), f(m2), f(m3), f(m4), f(m5), f(m6), f(m7), f(m8), f(m9), f(m10), f(m11), f(m12),
     f(m13), f(m14), f(m15), f(m16), f(m17), f(m18), f(m19), f(m20), f(m21), f(m22), f(m23));
  }
}

}  // namespace stowage
