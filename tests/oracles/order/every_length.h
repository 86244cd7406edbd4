// The oracle for rows of lengths: the peak of an order, and the least need of any order, computed
// at one length after another.
//
// Written for obviousness, from the page of the format alone. Live tensors before a step are
// determined tensor by tensor, from the first step to the last; bounds try every set of operators.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "instances/order/instance.h"

namespace stowage {

// Returns the peak of the order at this length. The order may repeat operators. Requires an order
// of all operators that respects the precedences. O(steps^2 tensors).
Bytes recounted_peak(const OrderInstance& instance, std::span<const std::int64_t> order,
                     Tokens length);

// The least need of operator `op` in any order where each operator runs once, or of the two ends of
// the row: the minimum over all sets of operators that may have run before it. The constructor
// takes O(2^n n m); made for about twelve operators.
class LeastNeed {
 public:
  LeastNeed(const OrderInstance& instance, std::int64_t op);

  Bytes at(Tokens length) const;

 private:
  // fixed + per_token * length, for one such set.
  struct Line {
    Bytes fixed = 0;
    Bytes per_token = 0;

    auto operator<=>(const Line&) const = default;
  };
  std::vector<Line> lines_;
};

}  // namespace stowage
