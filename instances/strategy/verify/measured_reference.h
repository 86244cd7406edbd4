// The time of a measured layer, by the format description alone, for the verifier and the checks of
// proofs (reference_model.h). Not installed.
#pragma once

#include <algorithm>
#include <cstddef>

#include "instances/strategy/instance.h"

namespace stowage {

struct MeasuredReference {
  const StrategyMeasured& entry;

  // Returns the time per token of a sequence of that length, on straight lines through the points.
  // Before the first point it is that of the first. Behind the last point the last line goes on,
  // unless it falls.
  double token_ms(double length) const {
    const std::size_t points = entry.tokens.size();
    if (points == 1 || length <= x(0)) return y(0);
    for (std::size_t k = 1; k < points; ++k) {
      if (length <= x(k)) return line(k, length);
    }
    return std::max(y(points - 1), line(points - 1, length));
  }

  Ms row_ms(double tokens, double squares) const {
    return tokens > 0 ? tokens * token_ms(squares / tokens) : 0;
  }

 private:
  double x(std::size_t k) const { return static_cast<double>(entry.tokens[k]); }
  double y(std::size_t k) const { return entry.ms[k] / x(k); }
  double line(std::size_t k, double length) const {  // through the points k - 1 and k
    const double share = (length - x(k - 1)) / (x(k) - x(k - 1));
    return (1 - share) * y(k - 1) + share * y(k);
  }
};

}  // namespace stowage
