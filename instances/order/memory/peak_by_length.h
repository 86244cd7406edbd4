// The peak of one order at every length of a range.
//
// The memory of a step is affine in the length. The peak is the largest over all steps, so it is
// piecewise affine and convex.
//
//   const PeakByLength curve(instance, order);
//   curve.at(4096);
//   first_below(a, b, from);  // the first length >= from at which a needs less than b
//
// Thread safety: does not change after its construction.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "instances/order/instance.h"

namespace stowage {

class PeakByLength {
 public:
  // fixed + per_token * length bytes, from one length to another, both inclusive.
  struct Piece {
    Tokens from = 0;
    Tokens to = 0;
    Bytes fixed = 0;
    Bytes per_token = 0;
  };

  // Requires a valid instance with a range of lengths, and an order of all its operators that keeps
  // the precedences. Operators may run again.
  PeakByLength(const OrderInstance& instance, std::span<const int> order);

  // Returns the peak in bytes. Requires a length of the range.
  Bytes at(Tokens length) const;
  // The pieces in ascending order, over the whole range.
  const std::vector<Piece>& pieces() const { return pieces_; }

 private:
  std::vector<Piece> pieces_;
};

// Returns the first length >= `from` at which the peak of `a` is less than that of `b`, or nullopt
// if the range has no such length. Both curves must have the same range.
std::optional<Tokens> first_below(const PeakByLength& a, const PeakByLength& b, Tokens from);

}  // namespace stowage
