// Finds the least peak of a graph of few operators again. A bound that a search proved has no
// certificate to check, so the verifier repeats the search if the graph is small.
//
// It shares no code with the solvers: for every set of operators that can have run, it computes the
// least peak of any order of the set. Not installed.
#pragma once

#include <optional>

#include "instances/order/instance.h"

namespace stowage {

// The search is repeated for graphs of at most this many operators: it has 2^20 sets.
inline constexpr std::size_t kMaxOperatorsTriedAgain = 20;

// Returns the least peak of any order, in bytes. Returns nullopt if there are too many operators,
// if an operator may run more than once, or if there is a host. Ignores the capacity. Requires an
// instance as the reader returns it. O(2^n n) for n operators.
std::optional<Bytes> least_peak(const OrderInstance& instance);

}  // namespace stowage
