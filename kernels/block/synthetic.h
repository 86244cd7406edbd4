// Reproducible data: what a token "contains" depends on the token alone.
//
// Every value is a hash of (seed, stream, sequence, position, channel), so a sequence carries the
// same numbers wherever a plan puts it, on every machine and in every run. Values have mean 0 and
// variance 1 and are nearly normal (the sum of four uniform 16-bit draws, at most 3.47 in size);
// no library function is involved whose last bit could differ between machines.
//
//   std::vector<float> x(length * hidden);
//   fill_tokens({.seed = 0, .stream = Stream::input}, sequence, 0, hidden, x);
#pragma once

#include <cstdint>
#include <span>

#include "kernels/block/block_weights.h"

namespace stowage::kernels {

enum class Stream : std::uint64_t { input = 1, upstream = 2, weights = 3, target = 4 };

struct Source {
  std::uint64_t seed = 0;
  Stream stream = Stream::input;
};

// `rows.size() / width` consecutive tokens of a sequence, the first at `first_position`.
void fill_tokens(const Source& source, std::int64_t sequence, std::int64_t first_position,
                 std::int64_t width, std::span<float> rows);

// Matrices with variance 1 / (number of inputs), norm gains around 1: activations keep the size of
// the input.
BlockWeights<float> synthetic_weights(const BlockShape& shape, std::uint64_t seed);

}  // namespace stowage::kernels
