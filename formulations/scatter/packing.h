// Dual feasible functions on the shares of one resource: the solver's side of PackingPrice.
//
// f is dual feasible if sum f(x_k) <= 1 for all shares with sum x_k <= 1, so that sum f(x_k) <=
// groups is a valid row however the sequences are packed. Both families are Fekete and Schepers'
// (Math. Programming 91, 2001), with strict inequalities where floating-point time needs them.
#pragma once

#include "instances/scatter/certificate.h"

namespace stowage {

// The value of a sequence that takes `amount` of `room`, in tokens or ms.
double packing_value(const PackingPrice& what, double amount, double room);

}  // namespace stowage
