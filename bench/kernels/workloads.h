// The measured workloads: the peaks of the machine, and attention on packs of equal sequences.
//
//   AttentionWork work({.length = 32, .tokens = 4096, .dim = 64, .heads = 1});
//   work.forward();
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/attention/attention.h"

namespace stowage::bench {

struct PackOf {
  int length = 1024;
  int tokens = 4096;  // tokens of all sequences together
  int dim = 64;
  int heads = 1;
  int kv_heads = 0;  // 0: equal to `heads`

  // Useful FLOP, causal pairs only (docs/project/execution.md).
  double forward_flop() const;
  double backward_flop() const { return 2.5 * forward_flop(); }
};

class AttentionWork {
 public:
  explicit AttentionWork(const PackOf& pack);
  AttentionWork(const AttentionWork&) = delete;
  AttentionWork& operator=(const AttentionWork&) = delete;

  void forward();
  void backward();  // backward pass of the last forward pass
  // Run on threads and return the CPU seconds of the busiest thread.
  double forward_on(int threads);
  double backward_on(int threads);

 private:
  kernels::AttentionBackwardInput input() const;

  std::vector<std::int32_t> cu_;
  kernels::AttentionShape shape_;
  std::vector<float> q_, k_, v_, upstream_, o_, lse_, dq_, dk_, dv_, work_;
};

// One query of one head over retained keys, as in decoding. Runs use different sets of keys in
// turn, so that the keys come from memory, as in a model whose layers do not share a cache.
class DecodeWork {
 public:
  DecodeWork(int keys, int dim);
  void run();
  double bytes() const { return 2.0 * sizeof(float) * static_cast<double>(shape_.k_size()); }

 private:
  std::vector<std::int32_t> cu_q_, cu_k_;
  kernels::AttentionShape shape_;
  std::vector<float> q_, k_, v_, o_, lse_, work_;
  std::size_t sets_, next_ = 0;  // numbers of sets of keys
};

// Computes a = b + factor c on arrays far larger than any cache. Returns the moved bytes, counting
// each of the three arrays once.
class Triad {
 public:
  Triad();
  void run();
  double bytes() const { return 3.0 * sizeof(float) * static_cast<double>(a_.size()); }

 private:
  std::vector<float> a_, b_, c_;
};

}  // namespace stowage::bench
