// Ranges of the numbers of instances, for all families. They keep every time, rate and amount that
// is computed from an instance finite. The largest value is a product of four numbers, divided
// three times by the least divisor and summed over ten million sequences. It stays far below the
// largest double.
#pragma once

#include "instances/json/reader.h"
#include "instances/units.h"

namespace stowage {

// Quantities beyond 2^53 are typing errors.
inline constexpr double kMaxNumber = static_cast<double>(kMaxExact);
inline constexpr NumberRange kQuantity = {.least = 0, .most = kMaxNumber};

// The range of a rate or another divisor.
inline constexpr double kLeastDivisor = 1e-9;
inline constexpr NumberRange kDivisor = {.least = kLeastDivisor, .most = kMaxNumber};

inline constexpr NumberRange kShareOfOne = {.least = 0, .most = 1};

// The range of a time or an amount in a plan or a certificate. Sums of an instance's numbers have
// no limit below the largest double, so that every plan that was written can be read.
inline constexpr NumberRange kComputed = {.least = 0};

}  // namespace stowage
