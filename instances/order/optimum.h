// The least peak of a graph of few operators, found again: a bound that a search proved has no
// certificate to check, so the verifier tries everything itself where that is little.
//
// It shares no code with the solvers: for every set of operators that can have run, the least peak
// of any way to get there. Not installed.
#pragma once

#include <optional>

#include "instances/order/instance.h"

namespace stowage {

// Graphs of more operators are not tried again.
inline constexpr std::size_t kMostOperatorsTriedAgain = 20;

// The least peak of any order; nothing if there are too many operators, one may run more than once,
// or there is a host. Does not look at the capacity. Requires an instance as the reader returns it.
// O(2^n n) for n operators.
std::optional<Bytes> least_peak(const OrderInstance& instance);

}  // namespace stowage
