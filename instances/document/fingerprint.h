// The fingerprint of an instance: FNV-1a, 64 bits, over integers in little-endian order. Doubles
// enter as their IEEE 754 bits. Catches mix-ups, not malice. Not installed: its public face is
// instance_hash() in json/document.h.
//
//   Fingerprint fingerprint;
//   fingerprint.add(instance.pad_multiple);
//   return fingerprint.text();  // "fnv1a64:0123456789abcdef"
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace stowage {

class Fingerprint {
 public:
  void add(std::int64_t value) {
    auto bits = static_cast<std::uint64_t>(value);
    unsigned zeros = 8;  // bytes above the highest that is not zero
    for (; bits != 0; bits >>= 8) {
      state_ = (state_ ^ (bits & 0xFFU)) * kPrime;
      --zeros;
    }
    state_ *= kPowers[zeros];
  }
  void add(double value) { add(std::bit_cast<std::int64_t>(value == 0 ? 0.0 : value)); }
  void add(std::string_view text) {  // its length and its bytes
    add(static_cast<std::int64_t>(text.size()));
    for (const char c : text) add(std::int64_t{static_cast<unsigned char>(c)});
  }
  void add(const std::map<int, double>& values) {
    add(static_cast<std::int64_t>(values.size()));
    for (const auto& [degree, value] : values) {
      add(std::int64_t{degree});
      add(value);
    }
  }
  std::string text() const {
    constexpr std::string_view kHex = "0123456789abcdef";
    std::string digits = "fnv1a64:";
    for (int shift = 60; shift >= 0; shift -= 4) digits += kHex[(state_ >> shift) & 15U];
    return digits;
  }

 private:
  static constexpr std::uint64_t kPrime = 0x100000001B3U;
  // Powers of the prime. A byte of zero only multiplies, so that a run of zeros is one
  // multiplication by a power.
  static constexpr std::array<std::uint64_t, 9> kPowers = [] {
    std::array<std::uint64_t, 9> powers{1};
    for (std::size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * kPrime;
    return powers;
  }();

  std::uint64_t state_ = 0xCBF29CE484222325U;
};

}  // namespace stowage
