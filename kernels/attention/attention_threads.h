// Attention on several threads of one process: attention.h's passes with their work split over
// sequences, heads and, forward, blocks of queries.
//
//   std::vector<float> work(threads * forward_workspace(shape));
//   attention_forward_on(threads, shape, q, k, v, o, lse, work);
//
// Every unit of work computes the same whoever takes it and when; it writes places of its own, or
// adds in a fixed order, so results are those of one thread bit for bit. Backward has a unit per
// sequence and kv head, and one per query head in long sequences: a single sequence of a single
// query head is one thread's work.
#pragma once

#include <span>

#include "kernels/attention/attention.h"

namespace stowage::kernels {

// As attention_forward(), with a workspace for each thread. If `cpu_seconds` has an entry for each
// thread, it gets the CPU time that the thread spent. The caller is one of the threads.
void attention_forward_on(int threads, const AttentionShape& shape, std::span<const float> q,
                          std::span<const float> k, std::span<const float> v, std::span<float> o,
                          std::span<float> lse, std::span<float> workspace,
                          std::span<double> cpu_seconds = {});

// As attention_backward(); likewise.
void attention_backward_on(int threads, const AttentionShape& shape,
                           const AttentionBackwardInput& input, KvGradients mode,
                           std::span<float> dq, std::span<float> dk, std::span<float> dv,
                           std::span<float> workspace, std::span<double> cpu_seconds = {});

}  // namespace stowage::kernels
