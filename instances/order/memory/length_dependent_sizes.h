// Graphs whose sizes grow with a length that is known at run time only. Not installed.
//
// A tensor needs size + length * size_per_token bytes, a workspace likewise; both numbers are
// rounded up to the alignment, so that sizes are affine in the length and stay multiples of it.
//
//   const OrderInstance graph = at_length(instance, 4096);   // a graph of fixed sizes
//
// Thread safety: its functions read their arguments and nothing else; any number of threads may
// call them at once.
#pragma once

#include "instances/order/instance.h"
#include "instances/units.h"

namespace stowage {

// Returns the longest length in tokens, or 0 if sizes are fixed.
inline Tokens longest_of(const OrderInstance& instance) {
  return instance.tokens ? instance.tokens->to : 0;
}

// Returns `size` and `length` times `per_token`, each rounded up to the alignment. Requires a valid
// instance and a length of its range.
inline Bytes size_at(const OrderInstance& instance, Bytes size, Bytes per_token, Tokens length) {
  return round_up(size, instance.alignment) + length * round_up(per_token, instance.alignment);
}

// Returns the same graph, with the sizes that it has at `length` and without a range. A graph
// without a range is returned as it is. Indices stay the same. Requires a valid instance and a
// length of its range.
OrderInstance at_length(const OrderInstance& instance, Tokens length);

}  // namespace stowage
