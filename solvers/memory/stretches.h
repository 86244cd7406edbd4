// Steps cut into stretches, one for each hill of what they need.
//
// Between two hills there is a valley; where it is deep a layout has room to spare, and what is
// laid out on one side of it leaves much of the other side open.
//
//   for (const Stretch& stretch : stretches(needs_of(table, order), peak)) ...
//
// Thread safety: a function of its arguments.
#pragma once

#include <span>
#include <vector>

#include "instances/units.h"

namespace stowage {

// The steps [first, last) on top of a hill: the first and the last that need nearly as much as the
// hill's highest, and all between.
struct Stretch {
  int first = 0;
  int last = 0;
  Bytes highest = 0;  // that a step of it needs

  bool operator==(const Stretch&) const = default;
};

// In the order of the steps: one at least where there are steps. `peak`: of all steps, or more.
std::vector<Stretch> stretches(std::span<const Bytes> needs, Bytes peak);

}  // namespace stowage
