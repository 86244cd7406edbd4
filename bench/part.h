// The two parts of every suite: one part for tuning constants, one part for reports. Tuning never
// uses the second part.
//
//   if (part_of("5b-64gpu-uniform-3") == Part::report) ...
#pragma once

#include <cstdint>
#include <string_view>

namespace stowage::bench {

enum class Part { tune, report };

// The part depends on the instance's name alone: it is bit 32 of the name's 64-bit FNV-1a hash.
// (The lowest bit is the parity of the letters' sum, so numbered names would alternate.)
constexpr Part part_of(std::string_view name) {
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
  return (hash >> 32U & 1U) != 0 ? Part::report : Part::tune;
}

constexpr std::string_view to_string(Part part) { return part == Part::tune ? "tune" : "report"; }

}  // namespace stowage::bench
