// The place of a sequence in the stream of steps before steps were planned together. Not installed.
#pragma once

#include <compare>
#include <cstdint>

namespace stowage {

struct DrawnSequence {
  std::int64_t step = 0;   // the step that the sequence was drawn in
  std::int64_t index = 0;  // its index in that step

  auto operator<=>(const DrawnSequence&) const = default;
};

}  // namespace stowage
