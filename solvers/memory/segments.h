// Cuts steps into stretches, one for each hill of their memory need.
//
// A valley separates two hills. If it is deep, a layout has free room there, and the layout of one
// hill leaves much of the other hill free.
//
//   for (const Stretch& stretch : stretches(needs_of(table, order), peak)) ...
//
// Thread safety: a function of its arguments.
#pragma once

#include <span>
#include <vector>

#include "instances/units.h"

namespace stowage {

// The steps [first, last) on top of a hill: from the first to the last step that needs nearly as
// much as the hill's highest step.
struct Segment {
  int first = 0;
  int last = 0;
  Bytes highest = 0;  // largest need of its steps, in bytes

  bool operator==(const Segment&) const = default;
};

// Returns the stretches in the order of the steps, at least one if there are steps. `peak` is at
// least the largest need.
std::vector<Segment> stretches(std::span<const Bytes> needs, Bytes peak);

}  // namespace stowage
