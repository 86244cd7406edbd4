// Which strategies are worth having: replicas for the lengths that steps are made of.
//
// A strategy deals ranges of lengths to schemes: replicas of a scheme with a small cap take short
// sequences, those with a large one long sequences. The best such strategy for all lengths up to s
// on n devices comes from a dynamic programme over s and n (Hydraulis, arXiv 2412.07894, section
// 4.1):
//
//   t[n][s] = min over schemes k with cap >= s, ranges (s - l, s] and copies d of
//             max(t[n - d tp_k pp_k][s - l], cost_k(range, d))
//
// Devices that are left over get replicas of the scheme that is cheapest per token. Steps differ in
// their longest sequence, so that one strategy is proposed for every s.
//
//   instance.strategies = propose_strategies(instance, {.steps = 100});
#pragma once

#include <vector>

#include "instances/assign/instance.h"

namespace stowage {

inline constexpr int kMostProposedDevices = 1024;

enum class RangeCost {
  // As published: (every sequence with a row's fixed time of its own, plus pp - 1 times the longest
  // sequence) / d.
  hydraulis,
  // The fixed time is shared by as many sequences as fill a row, and the pipeline's bubble is paid
  // by each of the d replicas, in each step, for a row as long as the longest or the average one.
  rows,
};

struct ProposeOptions {
  RangeCost cost = RangeCost::rows;
  double steps = 1;       // that the instance's lengths make up; > 0
  int buckets = 48;       // lengths are told apart in so many ranges at most; >= 1
  std::size_t most = 16;  // strategies; >= 1
};

// Strategies of the instance's schemes on its devices, called P0, P1, ..., without repeats: first
// that for steps with the longest sequence, then those for shorter ones. Its own strategies do not
// matter. Empty if no scheme admits a sequence. Sequences that no scheme admits are left out.
// O(buckets^2 schemes devices^2). Requires at most kMostProposedDevices devices.
std::vector<Strategy> propose_strategies(const AssignInstance& instance,
                                         const ProposeOptions& options = {});

}  // namespace stowage
