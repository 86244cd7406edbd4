// The peak of one order at every length of a range.
//
// What a step needs is affine in the length, and the peak is the largest of all steps: piecewise
// affine and convex.
//
//   const PeakCurve curve(instance, order);
//   curve.at(4096);
//   first_below(a, b, from);   // the first length from there on at which a needs less than b
//
// Thread safety: does not change after its construction.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "instances/order/instance.h"

namespace stowage {

class PeakCurve {
 public:
  // fixed + per_token * length bytes, from one length to another, both inclusive.
  struct Piece {
    Tokens from = 0;
    Tokens to = 0;
    Bytes fixed = 0;
    Bytes per_token = 0;
  };

  // Requires a valid instance with a range of lengths, and an order of all its operators that keeps
  // the precedences; some may stand in it again.
  PeakCurve(const OrderInstance& instance, std::span<const int> order);

  // Requires a length of the range.
  Bytes at(Tokens length) const;
  // In ascending order, over the whole range.
  const std::vector<Piece>& pieces() const { return pieces_; }

 private:
  std::vector<Piece> pieces_;
};

// The first length from `from` on at which the peak of `a` is less than that of `b`; nothing if
// there is none in the range, which must be that of both.
std::optional<Tokens> first_below(const PeakCurve& a, const PeakCurve& b, Tokens from);

}  // namespace stowage
