// Finds the optimum of a scatter step of few sequences again. A bound that a search proved has no
// certificate to check, so the verifier repeats the search if the step is small.
//
// It shares neither code nor method with the solvers. It uses a time table from reference_model.h,
// and for every set of sequences the list of its least times by number of devices. Not installed.
#pragma once

#include <optional>

#include "instances/scatter/instance.h"

namespace stowage {

// The search is repeated for at most this many sequences.
inline constexpr std::size_t kMaxSequencesTriedAgain = 12;

// Returns `claimed` if no plan takes less, otherwise the least objective of any plan, in ms.
// Returns nullopt if there are too many sequences, more than 64 devices of which none may idle, or
// devices of several kinds. Requires an instance as the reader returns it. O(3^K degrees^2), with
// equal_sequences K times that; a smaller `claimed` takes less time.
std::optional<Ms> least_objective(const ScatterInstance& instance, Ms claimed);

}  // namespace stowage
