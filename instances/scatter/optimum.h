// The optimum of a scatter step of few sequences, found again: a bound that a search proved has no
// certificate to check, so the verifier does the search itself where it is small.
//
// It shares neither code nor method with the solvers: a time table from truth.h, and for every set
// of sequences the list of how fast it can be on how many devices. Not installed.
#pragma once

#include <optional>

#include "instances/scatter/instance.h"

namespace stowage {

// More sequences are not tried again.
inline constexpr std::size_t kMostSequencesTriedAgain = 12;

// `claimed` if no plan takes less, otherwise the least objective of any plan, in ms. Nothing if
// there are too many sequences, more than 64 devices of which none may idle, or devices of several
// kinds. Requires an instance as the reader returns it. O(3^K degrees^2), with equal_sequences K
// times that; the smaller `claimed`, the less.
std::optional<Ms> least_objective(const ScatterInstance& instance, Ms claimed);

}  // namespace stowage
