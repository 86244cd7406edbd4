// The two parts of every suite: one to tune constants on, one to report. The second is never looked
// at while tuning.
//
//   if (part_of("5b-64gpu-uniform-3") == Part::report) ...
#pragma once

#include <cstdint>
#include <string_view>

namespace stowage::bench {

enum class Part { tune, report };

// By the name of the instance alone: bit 32 of its FNV-1a hash of 64 bits. (The lowest bit would be
// that of the sum of the letters, so that numbered names would take turns.)
constexpr Part part_of(std::string_view name) {
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
  return (hash >> 32U & 1U) != 0 ? Part::report : Part::tune;
}

constexpr std::string_view to_string(Part part) { return part == Part::tune ? "tune" : "report"; }

}  // namespace stowage::bench
