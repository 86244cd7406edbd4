// A stable sort by an unsigned key, in time linear in the number of items. Not installed: it serves
// inputs of a million items, where comparing costs a cache miss each.
//
// Digits in which no two keys differ cost no pass, so a small range of numbers is cheap wherever it
// lies.
//
//   radix_sort(events, [](const Event& e) { return sort_key(e.step); });
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace stowage {

// Returns keys in the order of the numbers. Doubles must not be NaN; -0 and 0 are equal.
inline std::uint64_t sort_key(std::int64_t number) {
  return static_cast<std::uint64_t>(number) ^ (std::uint64_t{1} << 63);
}
inline std::uint64_t sort_key(double number) {
  const auto bits = std::bit_cast<std::uint64_t>(number + 0.0);
  return bits >> 63 != 0 ? ~bits : bits | (std::uint64_t{1} << 63);
}

template <class T, class Key>
void radix_sort(std::vector<T>& items, const Key& key) {
  static_assert(std::is_trivially_copy_constructible_v<T>);
  constexpr std::size_t kFew = 500;  // up to this size std::stable_sort is faster
  constexpr unsigned kDigitBits = 11;
  constexpr std::size_t kDigits = std::size_t{1} << kDigitBits;
  if (items.size() <= kFew) {
    std::stable_sort(items.begin(), items.end(),
                     [&](const T& a, const T& b) { return key(a) < key(b); });
    return;
  }
  std::uint64_t differ = 0;
  bool sorted = true;
  std::uint64_t before = key(items.front());
  for (const T& item : items) {
    const std::uint64_t k = key(item);
    differ |= k ^ before;
    sorted = sorted && before <= k;
    before = k;
  }
  if (sorted) return;
  std::vector<T> other(items.size());
  while (differ != 0) {
    const auto shift = static_cast<unsigned>(std::countr_zero(differ));
    const auto digit = [&](const T& item) {
      return static_cast<std::size_t>((key(item) >> shift) & (kDigits - 1));
    };
    std::array<std::size_t, kDigits> next{};
    for (const T& item : items) ++next[digit(item)];
    std::size_t sum = 0;
    for (std::size_t& count : next) count = std::exchange(sum, sum + count);
    for (const T& item : items) other[next[digit(item)]++] = item;
    items.swap(other);
    differ = shift + kDigitBits >= 64 ? 0 : differ >> (shift + kDigitBits) << (shift + kDigitBits);
  }
}

}  // namespace stowage
