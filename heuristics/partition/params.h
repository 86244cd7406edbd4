// The parameters of micro-batch packing (micro_batch_packing.h, capped_exchange.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "instances/units.h"

namespace stowage {

struct MicroBatchParams {
  // Steps of the exchanges of one packing, about a nanosecond each. Larger: less spread between
  // ranks of batches beyond 10,000 sequences, more time. Smaller batches end before. Not tuned.
  std::int64_t work = 20'000'000;
  // Units of the other group on each side of the ideal one that a swap looks at. Larger: more swaps
  // that keep a tight token limit, more time per swap. Not tuned.
  std::ptrdiff_t neighbours = 8;
  // Parts of the token limit that ranks leave free, one after another: an eighth first. Larger
  // numbers: fuller ranks, whose packing fails more often. Not tuned.
  std::array<Tokens, 3> free_parts = {8, 32, 128};
};

}  // namespace stowage
