// How the checks of certificates allow for rounding: in wide numbers, towards what proves less. Not
// installed.
#pragma once

namespace stowage {

using Real = long double;

inline constexpr Real kRaised = 1 + 1e-12L;
inline constexpr Real kLowered = 1 - 1e-12L;
// A group or sequence that takes this little more than the room might fit after all.
inline constexpr Real kMightFit = 1 + 1e-9L;

}  // namespace stowage
