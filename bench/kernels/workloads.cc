#include "bench/kernels/workloads.h"

#include <algorithm>

#include "kernels/block/synthetic.h"
#include "kernels/threads/thread_clock.h"
#include "kernels/threads/workers.h"

namespace stowage::bench {
namespace {

// floats of an array that is larger than all caches
constexpr std::size_t kBeyondCaches = 48 << 20;

std::vector<float> values(std::int64_t count, std::int64_t tag) {
  std::vector<float> filled(static_cast<std::size_t>(count));
  kernels::fill_tokens({.seed = 1}, tag, 0, 64, filled);
  return filled;
}

// Returns the CPU seconds of the busiest thread of a pass on `threads` threads.
template <class Pass>
double busiest(int threads, Pass pass) {
  kernels::Workers workers(threads);
  const kernels::WorkersScope scope(workers);
  const double start = kernels::thread_cpu_seconds();
  pass();
  return kernels::thread_cpu_seconds() - start + workers.ahead_seconds();
}

}  // namespace

double PackOf::forward_flop() const {
  const int sequences = tokens / length;
  const double pairs = 0.5 * length * (length + 1.0) * sequences;
  return 4.0 * dim * heads * pairs;
}

AttentionWork::AttentionWork(const PackOf& pack) {
  for (std::int32_t end = 0; end <= pack.tokens; end += pack.length) cu_.push_back(end);
  shape_ = {.total_q = pack.tokens,
            .total_k = pack.tokens,
            .heads = pack.heads,
            .kv_heads = pack.kv_heads > 0 ? pack.kv_heads : pack.heads,
            .head_dim = pack.dim,
            .cu_q = cu_,
            .cu_k = cu_};
  q_ = values(shape_.q_size(), 1);
  k_ = values(shape_.k_size(), 2);
  v_ = values(shape_.k_size(), 3);
  upstream_ = values(shape_.q_size(), 4);
  o_.resize(q_.size());
  dq_.resize(q_.size());
  dk_.resize(k_.size());
  dv_.resize(k_.size());
  lse_.resize(static_cast<std::size_t>(shape_.lse_size()));
  work_.resize(static_cast<std::size_t>(
      std::max(kernels::forward_workspace(shape_), kernels::backward_workspace(shape_))));
}

kernels::AttentionBackwardInput AttentionWork::input() const {
  return {.q = q_, .k = k_, .v = v_, .o = o_, .lse = lse_, .upstream = upstream_};
}

void AttentionWork::forward() { kernels::attention_forward(shape_, q_, k_, v_, o_, lse_, work_); }

void AttentionWork::backward() {
  kernels::attention_backward(shape_, input(), kernels::KvGradients::per_kv_head, dq_, dk_, dv_,
                              work_);
}

double AttentionWork::forward_on(int threads) {
  return busiest(threads, [this] { forward(); });
}

double AttentionWork::backward_on(int threads) {
  return busiest(threads, [this] { backward(); });
}

DecodeWork::DecodeWork(int keys, int dim) : cu_q_{0, 1}, cu_k_{0, keys} {
  shape_ = {.total_q = 1, .total_k = keys, .head_dim = dim, .cu_q = cu_q_, .cu_k = cu_k_};
  const std::int64_t size = shape_.k_size();
  sets_ = kBeyondCaches / static_cast<std::size_t>(2 * size) + 1;
  q_ = values(shape_.q_size(), 7);
  k_ = values(static_cast<std::int64_t>(sets_) * size, 8);
  v_ = values(static_cast<std::int64_t>(sets_) * size, 9);
  o_.resize(q_.size());
  lse_.resize(static_cast<std::size_t>(shape_.lse_size()));
  work_.resize(static_cast<std::size_t>(kernels::forward_workspace(shape_)));
}

void DecodeWork::run() {
  const auto size = static_cast<std::size_t>(shape_.k_size());
  const auto set = [&](const std::vector<float>& all) {
    return std::span(all).subspan(next_ * size, size);
  };
  kernels::attention_forward(shape_, q_, set(k_), set(v_), o_, lse_, work_);
  next_ = (next_ + 1) % sets_;
}

Triad::Triad()
    : a_(kBeyondCaches / 3), b_(values(kBeyondCaches / 3, 5)), c_(values(kBeyondCaches / 3, 6)) {}

void Triad::run() {
  for (std::size_t i = 0; i < a_.size(); ++i) a_[i] = b_[i] + 0.5f * c_[i];
}

}  // namespace stowage::bench
