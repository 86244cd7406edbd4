// The promises of a window of steps whose sequences are dealt out anew. Not installed.
#pragma once

#include <cstdint>
#include <limits>

namespace stowage {

struct WindowRule {
  // Steps by which a sequence may be later than the step that it was drawn in.
  std::int64_t delay = 0;
  // No step has more tokens than the largest drawn step times this factor, and none has fewer than
  // the smallest drawn step divided by it. At least 1.
  double token_spread = std::numeric_limits<double>::infinity();
};

}  // namespace stowage
