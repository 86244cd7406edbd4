// Proposes strategies: numbers of replicas per scheme for the lengths of typical steps.
//
// A strategy assigns ranges of lengths to schemes: replicas of a scheme with a small cap take short
// sequences, those with a large cap take long sequences. A dynamic program over s and n finds the
// best such strategy for all lengths up to s on n devices (Hydraulis, arXiv 2412.07894, section
// 4.1):
//
//   t[n][s] = min over schemes k with cap >= s, ranges (s - l, s] and copies d of
//             max(t[n - d tp_k pp_k][s - l], cost_k(range, d))
//
// Remaining devices get replicas of the scheme with the least device time per token. Steps differ
// in their longest sequence, so one strategy is proposed for every s.
//
//   instance.strategies = propose_strategies(instance, {.steps = 100});
#pragma once

#include <vector>

#include "instances/assign/instance.h"

namespace stowage {

inline constexpr int kMaxProposedDevices = 1024;

enum class RangeCost {
  // The published cost: (the sum over all sequences, each with a row's fixed time, plus pp - 1
  // times the longest sequence) / d.
  hydraulis,
  // The sequences that fill a row share its fixed time. Each of the d replicas has in each step a
  // pipeline bubble of a row as long as the longest or the average row.
  rows,
};

struct ProposeOptions {
  RangeCost cost = RangeCost::rows;
  double steps = 1;       // number of steps that the instance's lengths make up; > 0
  int buckets = 48;       // largest number of length ranges; >= 1
  std::size_t most = 16;  // largest number of strategies; >= 1
};

// Returns distinct strategies of the instance's schemes on its devices, called P0, P1, ... The
// first strategy is for steps with the longest sequence, and the others are for shorter steps. The
// instance's own strategies are ignored. Returns an empty list if no scheme admits a sequence.
// Sequences that no scheme admits are left out. O(buckets^2 schemes devices^2). Requires at most
// kMaxProposedDevices devices.
std::vector<Strategy> propose_strategies(const AssignInstance& instance,
                                         const ProposeOptions& options = {});

}  // namespace stowage
