// The oracle for rows of lengths: what an order needs, and what any order needs at least, at one
// length after another.
//
// Written for obviousness, from the page of the format alone. What is live before a step is asked
// tensor by tensor, from the first step to the last; bounds try every set of operators.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "instances/order/instance.h"

namespace stowage {

// The most that any step of the order needs at this length. Operators may stand in it again.
// Requires an order of all operators that keeps the precedences. O(steps^2 tensors).
Bytes recounted_peak(const OrderInstance& instance, std::span<const std::int64_t> order,
                     Tokens length);

// What operator `op` needs at least in any order where each runs once, or what the row's names for
// both ends mean: the least of all sets of operators that may have run before it. O(2^n n m) when
// it is made; for about twelve operators.
class LeastNeed {
 public:
  LeastNeed(const OrderInstance& instance, std::int64_t op);

  Bytes at(Tokens length) const;

 private:
  // fixed + per_token * length, of one such set.
  struct Line {
    Bytes fixed = 0;
    Bytes per_token = 0;

    auto operator<=>(const Line&) const = default;
  };
  std::vector<Line> lines_;
};

}  // namespace stowage
