#include "instances/strategy/cost/measured.h"

#include <algorithm>
#include <cstddef>

namespace stowage {

Ms measured_ms(const StrategyMeasured& entry, double tokens, double squares) {
  if (tokens <= 0) return 0;
  const double length = squares / tokens;
  const auto at_point = [&](std::size_t k) { return static_cast<double>(entry.tokens[k]); };
  const auto of_token = [&](std::size_t k) { return entry.ms[k] / at_point(k); };
  const auto above = std::ranges::upper_bound(entry.tokens, length, {},
                                              [](Tokens t) { return static_cast<double>(t); });
  const auto next = static_cast<std::size_t>(above - entry.tokens.begin());
  if (next == 0) return tokens * of_token(0);
  const std::size_t last = entry.tokens.size() - 1;
  if (last == 0) return tokens * of_token(0);
  const std::size_t from = std::min(next, last) - 1;
  const double slope =
      (of_token(from + 1) - of_token(from)) / (at_point(from + 1) - at_point(from));
  if (next > last)
    return tokens * (of_token(last) + std::max(0.0, slope) * (length - at_point(last)));
  return tokens * (of_token(from) + slope * (length - at_point(from)));
}

}  // namespace stowage
