// Tolerances that several sources must agree on. The checkers of certificates have their own, which
// are tighter.
#pragma once

namespace stowage {

// Relative: a sequence whose time is so little above the room of a group may fit, for all that
// rounding can tell.
inline constexpr double kMightFit = 1 + 2e-9;

}  // namespace stowage
