// Reproducible data: the values of a token depend on the token alone.
//
// Every value is a hash of (seed, stream, sequence, position, channel). So a sequence has the same
// values in every plan, on every machine and in every run. Values have mean 0 and variance 1 and
// are nearly normal: each is the sum of four uniform 16-bit draws, with an absolute value of at
// most 3.47. The computation calls no library function whose last bit could differ between
// machines.
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

// Fills `rows.size() / width` consecutive tokens of a sequence, the first at `first_position`.
void fill_tokens(const Source& source, std::int64_t sequence, std::int64_t first_position,
                 std::int64_t width, std::span<float> rows);

// Returns matrices with variance 1 / (number of inputs) and norm gains around 1, so that
// activations keep the magnitude of the input.
BlockWeights<float> synthetic_weights(const BlockShape& shape, std::uint64_t seed);

}  // namespace stowage::kernels
