// Attention on several threads of one process. The work of the passes of attention.h is split over
// sequences, heads and, in the forward pass, blocks of queries.
//
//   std::vector<float> work(threads * forward_workspace(shape));
//   attention_forward_on(threads, shape, q, k, v, o, lse, work);
//
// The result of a unit of work does not depend on its thread or its time. A unit writes elements
// that no other unit writes, or adds in a fixed order, so the results equal those of one thread bit
// for bit. Backward has one unit per sequence and kv head, and in long sequences one unit per query
// head. So a single sequence with a single query head runs on one thread.
#pragma once

#include <span>

#include "kernels/attention/attention.h"

namespace stowage::kernels {

// Computes attention_forward() on `threads` threads; `workspace` holds forward_workspace() floats
// for each. If `cpu_seconds` has an entry for each thread, the function writes the CPU time of each
// thread to it, in seconds. The calling thread is one of the threads.
void attention_forward_on(int threads, const AttentionShape& shape, std::span<const float> q,
                          std::span<const float> k, std::span<const float> v, std::span<float> o,
                          std::span<float> lse, std::span<float> workspace,
                          std::span<double> cpu_seconds = {});

// Computes attention_backward() on `threads` threads, with the same rules for `workspace` and
// `cpu_seconds`.
void attention_backward_on(int threads, const AttentionShape& shape,
                           const AttentionBackwardInput& input, KvGradients mode,
                           std::span<float> dq, std::span<float> dk, std::span<float> dv,
                           std::span<float> workspace, std::span<double> cpu_seconds = {});

}  // namespace stowage::kernels
