// The comparison of a number that a plan states with the recomputed number, and the text of such
// numbers in violations. Not installed: the verifiers of the families share it.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "instances/numeric/tolerances.h"
#include "instances/proof/violation_list.h"
#include "instances/units.h"

namespace stowage {

// Returns true for finite numbers that differ by no more than the tolerance.
inline bool agree(double a, double b) {
  return std::isfinite(a) && std::isfinite(b) &&
         std::abs(a - b) <= kVerifierDiffers * std::max(std::abs(a), std::abs(b));
}

inline std::string stated_ms(double value) { return text(value) + " ms"; }

inline std::string stated_tokens(std::optional<Tokens> value) {
  return value ? text(*value) + " tokens" : "more than 2^63 tokens";
}

}  // namespace stowage
