// The reference of a run: every sequence computed alone, in double precision.
//
//   LoneSequences alone({.block = block, .seed = 0, .threads = 4}, weights, lengths);
//   alone.compute(ids, window, [] { return false; }, [&](std::size_t i, const LoneResult& want) {
//     ...                                    // of sequence ids[i]
//   });
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "kernels/block/block_reference.h"
#include "kernels/block/block_weights.h"
#include "kernels/block/synthetic.h"
#include "kernels/threads/workers.h"

namespace stowage::kernels {

// Returns the values of a stream for the `length` tokens of a sequence, (length, hidden).
std::vector<float> sequence_tokens(const Source& source, std::int64_t sequence, std::int64_t length,
                                   int hidden);

// Returns the sum of y * upstream, in double.
template <class T>
double loss_of(std::span<const T> y, std::span<const float> upstream) {
  double sum = 0;
  for (std::size_t i = 0; i < y.size(); ++i) sum += double{y[i]} * upstream[i];
  return sum;
}

struct LoneResult {
  BlockResult result;
  double loss = 0;  // dot(output, upstream)
};

struct LoneOptions {
  BlockShape block;
  std::uint64_t seed = 0;  // of tokens and upstream gradients
  int threads = 1;         // the bits do not depend on it
};

class LoneSequences {
 public:
  // `lengths` are those of all sequences, by id.
  LoneSequences(const LoneOptions& options, const BlockWeights<float>& weights,
                std::vector<std::int64_t> lengths)
      : options_(options),
        weights_(widen(weights)),
        lengths_(std::move(lengths)),
        workers_(options.threads) {}

  // Computes sequences, several at once, and calls visit(i, result) for the i-th of them in order.
  // `window` takes the place of the block's. `stopped` is asked between sequences; returns false
  // once it returns true.
  bool compute(std::span<const std::int64_t> ids, std::int64_t window,
               const std::function<bool()>& stopped,
               const std::function<void(std::size_t, const LoneResult&)>& visit);

 private:
  LoneResult one(std::int64_t id, std::int64_t window) const;

  LoneOptions options_;
  BlockWeights<double> weights_;
  std::vector<std::int64_t> lengths_;
  Workers workers_;
};

}  // namespace stowage::kernels
