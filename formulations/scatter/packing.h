// Dual feasible functions on the shares of one resource, which the solver uses for PackingPrice.
//
// f is dual feasible if sum f(x_k) <= 1 for all shares with sum x_k <= 1. Then sum f(x_k) <= groups
// is a valid row for every packing. Both families are Fekete and Schepers' (Math. Programming 91,
// 2001), with strict inequalities where floating-point time needs them.
#pragma once

#include "instances/scatter/certificate.h"

namespace stowage {

// Returns the value of a sequence that takes `amount` of `room`, both in tokens or both in ms.
double packing_value(const PackingPrice& what, double amount, double room);

}  // namespace stowage
