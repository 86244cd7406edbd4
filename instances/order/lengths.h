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

// The longest length in tokens; 0 where sizes are fixed.
inline Tokens longest_of(const OrderInstance& instance) {
  return instance.tokens ? instance.tokens->to : 0;
}

// `size` and `length` tokens of `per_token`, each rounded up to the alignment. Requires a valid
// instance and a length of its range.
inline Bytes size_at(const OrderInstance& instance, Bytes size, Bytes per_token, Tokens length) {
  return round_up(size, instance.alignment) + length * round_up(per_token, instance.alignment);
}

// The same graph with the sizes that it has at `length`, and no range; itself if it has none. Its
// indices are the same. Requires a valid instance and a length of its range.
OrderInstance at_length(const OrderInstance& instance, Tokens length);

}  // namespace stowage
