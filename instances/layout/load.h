// Properties of a layout before any offset is chosen: alignments, loads, and proofs that no plan
// exists.
//
//   const PeakLoad load = peak_load(instance);       // no layout has a smaller peak
//   if (const auto why = layout_infeasibility(instance)) std::cerr << why->text << '\n';
//
// All functions require a valid instance, as the reader returns it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "instances/layout/instance.h"

namespace stowage {

// Returns the divisor of the buffer's offset: the least common multiple of the buffer's and the
// instance's alignment.
Bytes alignment_of(const LayoutInstance& instance, const Buffer& buffer);

// Returns the steps at which the buffer needs its bytes: its lifetime without the gaps, ascending.
std::vector<Lifetime> needs_of(const Buffer& buffer);

// The step with the largest load, the earliest of several, and the bytes that every layout needs
// there. 0 at step 0 without buffers.
//
// Let g divide the alignment of every buffer. Then each buffer begins a block of g bytes and shares
// no block, so that Σ ceil(S_i / g) blocks are needed. Only the last block of the topmost buffer
// may end early: load = g Σ ceil(S_i / g) - max_i (g ceil(S_i / g) - S_i). With g = 1 it is the
// sum.
struct PeakLoad {
  std::int64_t step = 0;
  Bytes load = 0;

  bool operator==(const PeakLoad&) const = default;
};
PeakLoad peak_load(const LayoutInstance& instance);

// Returns the buffers of at least one byte that need memory at the step, ascending.
std::vector<std::int64_t> needing_memory_at(const LayoutInstance& instance, std::int64_t step);

// Two pinned buffers that share a byte at a step. pin_clashes() finds at least one such pair if
// there are any, but not all, and lists no buffer as `second` twice.
struct PinClash {
  std::int64_t first = 0;
  std::int64_t second = 0;
  std::int64_t step = 0;  // the first at which both need memory

  bool operator==(const PinClash&) const = default;
};
std::vector<PinClash> pin_clashes(const LayoutInstance& instance);

// Why the instance has no layout, if a proof is known: clashing pins, a pin that ends above the
// capacity, or a step that needs more than the capacity.
struct LayoutInfeasibility {
  enum class Reason { pins_clash, pin_above_capacity, load_above_capacity };
  Reason reason = Reason::load_above_capacity;
  std::optional<std::int64_t> step;   // at which the proof holds; none for a pin above the capacity
  std::vector<std::int64_t> buffers;  // all that the proof needs, ascending
  std::string text;                   // a sentence for people

  bool operator==(const LayoutInfeasibility&) const = default;
};
std::optional<LayoutInfeasibility> layout_infeasibility(const LayoutInstance& instance);

}  // namespace stowage
