// The machines that models are trained on: the data sheets of their devices and links, and the
// shares of these numbers that training is assumed to reach. Sources and assumptions:
// instances/presets.md.
//
//   const Machine* h100 = machine_named("h100");
//   h100->product_tflops();  // 613
//
// Thread safety: its functions read their arguments and nothing else; any number of threads may
// call them at once.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "instances/result.h"
#include "instances/units.h"

namespace stowage {

// Shares of the numbers of a data sheet, assumed by version 1 of the formulas of strategies.
inline constexpr double kProductShare = 0.62;    // of the peak, by products of matrices
inline constexpr double kAttentionShare = 0.45;  // of the peak, by attention
inline constexpr double kLinkShare = 0.8;        // of a bandwidth
// Of memory: the rest is for framework and libraries.
inline constexpr double kMemoryShare = 0.9;
// Shares assumed by version 2 of the formulas of strategies, which count the work between products
// and the memory of libraries separately. Evidence: instances/data/published.
inline constexpr double kBareProductShare = 0.80;    // of the peak, by products alone
inline constexpr double kBareAttentionShare = 0.31;  // of the peak, by attention
inline constexpr double kDeviceShare = 0.99;         // of memory: the rest is for the driver

// One device type; a node has eight devices.
struct Machine {
  std::string_view name;
  double memory_gib = 0;            // of a device
  double peak_tflops = 0;           // bfloat16, dense
  double inside_gb_per_second = 0;  // of a device, one way, within a node
  double across_gb_per_second = 0;  // of a device, one way, between nodes
  double memory_gb_per_second = 0;  // of a device's own memory
  // Shares of the peak that whole steps reach, with all work between products: by the terms of a
  // scatter instance that are linear and quadratic in lengths.
  double linear_share = 0;
  double quadratic_share = 0;
  // Of a collective of the devices of a node, as measured: its latency, and the share of the
  // bandwidth inside a node that large ones reach.
  double message_ms = 0;
  double collective_share = 0;

  constexpr double linear_tflops() const { return peak_tflops * linear_share; }
  constexpr double quadratic_tflops() const { return peak_tflops * quadratic_share; }
  constexpr double product_tflops() const { return peak_tflops * kProductShare; }
  constexpr double attention_tflops() const { return peak_tflops * kAttentionShare; }
  constexpr double inside_mib_per_ms() const { return mib_per_ms(inside_gb_per_second); }
  constexpr double across_mib_per_ms() const { return mib_per_ms(across_gb_per_second); }
  constexpr double collective_mib_per_ms() const {
    return inside_mib_per_ms() / kLinkShare * collective_share;
  }
  constexpr Mib memory_mib() const { return memory_gib * 1024 * kMemoryShare; }
  constexpr double bare_product_tflops() const { return peak_tflops * kBareProductShare; }
  constexpr double bare_attention_tflops() const { return peak_tflops * kBareAttentionShare; }
  constexpr double memory_mib_per_ms() const { return memory_gb_per_second * 1e6 / (1 << 20); }
  constexpr Mib device_mib() const { return memory_gib * 1024 * kDeviceShare; }

 private:
  static constexpr double mib_per_ms(double gb_per_second) {
    return gb_per_second * 1e6 / (1 << 20) * kLinkShare;
  }
};

inline constexpr std::array<Machine, 5> kMachines = {
    {{"a100-40", 40, 312, 300, 25, 1555, 0.6, 0.3, 0.09, 0.65},
     {"a100-80", 80, 312, 300, 25, 2039, 0.6, 0.3, 0.09, 0.65},
     {"h100", 80, 989, 450, 50, 3350, 0.5, 0.18, 0.05, 0.8},
     {"h200", 141, 989, 450, 50, 4800, 0.5, 0.18, 0.05, 0.8},
     {"b200", 180, 2250, 900, 50, 8000, 0.5, 0.18, 0.05, 0.8}}};

// Returns the machine called `name`, or null if there is none.
constexpr const Machine* machine_named(std::string_view name) {
  const auto found = std::ranges::find(kMachines, name, &Machine::name);
  return found == kMachines.end() ? nullptr : &*found;
}

// Returns the names in the order of the table.
std::vector<std::string_view> machine_names();

// Returns an E501 at "/machine" that names all machines and the nearest.
InputError unknown_machine(std::string_view name);

}  // namespace stowage
