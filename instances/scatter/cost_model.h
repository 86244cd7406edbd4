// What a group costs: the time model shared by formulations, bounds and heuristics.
//
//   t(S, d) = fixed_ms + latency_d + sum over s in S of c(s, d)
//   c(s, d) = (quadratic_ms s^2 + linear_ms s) / d + all_to_all(s, d)
//   all_to_all(s, 1) = 0;  all_to_all(s, d) = mib_per_token s / (d v_d)
//
// Source: FlexSP (arXiv 2412.01523, section 4.2). The verifier does not use this file: it computes
// times from the format document with code of its own.
#pragma once

#include <vector>

#include "instances/scatter/instance.h"

namespace stowage {

// c(s, d): what a sequence of `length` padded tokens adds to a group of degree `degree`, in ms.
Ms sequence_ms(const ScatterInstance& instance, Tokens length, int degree);

// fixed_ms + latency_d: what a group of degree `degree` costs before its first sequence, in ms.
Ms group_overhead_ms(const ScatterInstance& instance, int degree);

}  // namespace stowage
