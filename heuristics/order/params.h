// Parameters of the order heuristics, and constants that are not worth tuning. This header is not
// installed.
#pragma once

#include <array>
#include <cstdint>

#include "instances/parameters.h"
#include "instances/units.h"

namespace stowage {

// Parameters of order_lns.h, which searches stretches of an order again. The first round of `auto`
// and the method `lns` begin with this number of states and this width.
struct StretchParams {
  std::int64_t states = 1'000;
  int width = 64;
  int narrowest = 8;
};

// Parameters of the heuristic `fast` (registry.h).
struct OrderFastParams {
  std::int64_t states = 200;
  int width = 32;
};

// Parameters of recompute/evictions.h, which drops tensors and makes them again.
struct EvictionParams {
  int depth = 6;
  int tensors = 64;
  int steps = 16;
  int halvings = 12;
};

// Parameters of recompute/offload.h, which moves tensors to the host.
struct OffloadParams {
  int tensors = 48;
  int steps = 8;
};

// Parameters of RerunWalk (recompute/reruns.h), which searches around a plan.
struct RerunWalkParams {
  std::int64_t plans = 20'000;
  int distance = 32;
};

struct OrderHeuristicParams {
  StretchParams stretches;
  OrderFastParams fast;
  EvictionParams eviction;
  OffloadParams offload;
  RerunWalkParams walk;
};

// Constants that separate rounding from a difference, that bound how far a time limit is overrun,
// or that follow from a parameter.
namespace order_fixed {

// cost of a run that takes no time, as a share of the time of all runs
inline constexpr Ms kFreeRun = 1e-9;
// Longest operators that run again in the attempts of tell_cheap_plans(), as shares of the time of
// all runs. Element-wise operators of a training step are in the first share, matrix products of
// small layers in the second to fourth, and the last share holds all operators.
inline constexpr std::array kLongestRuns = {1e-6, 1e-3, 5e-3, 1e-2, 1.0};
// relative: sums of the same times in different orders differ by less
inline constexpr double kRounding = 1e-12;
inline constexpr std::int64_t kClockStates = 64;  // states between two reads of the clock
// moves of level_order() between two reads of the clock
inline constexpr std::int64_t kClockMoves = 4096;
inline constexpr std::int64_t kFastStretches =
    100;  // stretches of `fast`, which take some hundredths of a second
inline constexpr std::int64_t kLnsStretches = 200;  // stretches of each round of `lns`
// factor of the states of `lns` from one round to the next
inline constexpr std::int64_t kLnsGrowth = 4;
inline constexpr int kLnsRounds = 3;
// level_order(): the cost of a step that needs the peak, and the initial temperature, which is the
// largest rise in cost that a first move may have.
inline constexpr std::int64_t kPeakCost = 1 << 20;
inline constexpr std::int64_t kHottest = 6 * kPeakCost / 10;

}  // namespace order_fixed

template <class Visitor>
void fields(Visitor&& visit, OrderHeuristicParams& p) {
  StretchParams& stretches = p.stretches;
  visit({"stretches.states", "states", 1, 1e8,
         "More: the first round, and `lns`, search each stretch and the whole order for longer.",
         kByHand},
        stretches.states);
  visit({"stretches.width", "steps", 1, 1e6,
         "More: the first round, and `lns`, search longer stretches.", kByHand},
        stretches.width);
  visit({"stretches.narrowest", "steps", 8, 1e6,
         "More: no short stretches are searched around the peak.", kByHand},
        stretches.narrowest);
  visit({"fast.states", "states", 1, 1e8,
         "More: `fast` searches each stretch for longer, and more of them.", kByHand},
        p.fast.states);
  visit({"fast.width", "steps", 1, 1e6, "More: `fast` searches longer stretches.", kByHand},
        p.fast.width);
  EvictionParams& eviction = p.eviction;
  visit({"eviction.depth", "operators", 0, 1000,
         "More: longer chains of operators run again for one tensor.", kByHand},
        eviction.depth);
  visit({"eviction.tensors", "tensors", 1, 1e6,
         "More: more tensors are tried at the step that needs most.", kByHand},
        eviction.tensors);
  visit({"eviction.steps", "steps", 0, 1e6,
         "More: tensors of more steps are tried if none helps at the worst step.", kByHand},
        eviction.steps);
  visit({"eviction.halvings", "halvings", 0, 1000,
         "More: the lowest peak is found more exactly, by evictions and by a host.", kByHand},
        eviction.halvings);
  visit({"offload.tensors", "tensors", 1, 1e6,
         "More: more tensors are tried for the host at a step.", kByHand},
        p.offload.tensors);
  visit({"offload.steps", "steps", 1, 1e6,
         "More: tensors of more steps are tried if none helps at the worst step.", kByHand},
        p.offload.steps);
  visit({"walk.plans", "plans", 1, 1e12,
         "More: better plans of the method `walk`, in proportionally more time.", kByHand},
        p.walk.plans);
  visit({"walk.distance", "steps", 1, 1e6, "More: one operator moves farther.", kByHand},
        p.walk.distance);
}

}  // namespace stowage
