// The parameters of the layout heuristics, and the numbers of theirs that nobody would tune. Not
// installed.
#pragma once

#include <cstdint>

#include "instances/layout/table.h"
#include "instances/parameters.h"

namespace stowage {

// registry.h: the heuristic `fast`.
struct LayoutFastParams {
  int many = 50'000;
  int rings = 6;
  int fits = 2'000;
};

// dive.h: the dive for the fullest section.
struct FullestDiveParams {
  int starts = 512;
};

// ejection.h: buffers above a target are put in below it by force.
struct EjectionParams {
  double first_step = 0.3;
  double least_step = 0.01;
  double size_weight = 64;
  double any_share = 0.25;
};

// reinsertion.h: buffers of the stack are taken out and put in again.
struct ReinsertionParams {
  int buffers = 5'000;
  int taken = 20;
  double threshold = 0.001;
  int alike = 3;
  int near = 2;
  std::int64_t visits = 300'000'000;
};

// improve.h: rounds of dives, ejections and reinsertions.
struct LoweringParams {
  std::int64_t visits = 1'000;
  std::int64_t reinsertions = 50;
  std::int64_t longest = 64;
  int in_vain = 12;
  int skipped = 7;
};

struct LayoutHeuristicParams {
  LayoutFastParams fast;
  FullestDiveParams dive;
  EjectionParams ejection;
  ReinsertionParams reinsertion;
  LoweringParams lowering;
};

// Numbers that change the time that a limit is overrun by, that keep sums within 64 bits, or that a
// published baseline fixes.
namespace layout_fixed {

inline constexpr std::int64_t kClockVisits = 1 << 18;  // of buffers, between two looks at the clock
inline constexpr std::int64_t kClockGaps = 1 << 15;    // of a ring or an index, which take longer
inline constexpr std::int64_t kGapsPerBuffer = 64;     // of a ring: with more it is in pieces
inline constexpr std::int64_t kMostVisits = 2'000'000'000;  // of a turn of a kind of work
// A million buffers that may move weigh less than one that may not.
inline constexpr std::int64_t kMostWeight = std::int64_t{1} << 20;
inline constexpr std::int64_t kPinWeight = std::int64_t{1} << 41;
inline constexpr double kLargestStep = 0.5;        // of an ejection
inline constexpr std::uint32_t kShares = 1 << 16;  // different shares that can be drawn
inline constexpr int kHillClimbAttempts = 500;     // as in TVM
inline constexpr double kHillClimbLoss = 0.01;  // share of the peak: a loss of it is kept with 1/e

}  // namespace layout_fixed

template <class Visitor>
void fields(Visitor&& visit, LayoutHeuristicParams& p) {
  LayoutFastParams& fast = p.fast;
  visit({"fast.many", "buffers", 0, 1e9,
         "More: layouts of more buffers get all dives and fits of `fast`, whatever their time.",
         kByHand},
        fast.many);
  visit({"fast.rings", "rings", 0, 1000, "More: more lengths of a ring are tried.", kByHand},
        fast.rings);
  visit({"fast.fits", "buffers", 0, 1e9,
         "More: layouts of more buffers are also fitted buffer by buffer, in quadratic time.",
         kByHand},
        fast.fits);
  visit({"dive.starts", "starts", 8, 1e6,
         "More: each step of the dive for the fullest section looks at more buffers.", kByHand},
        p.dive.starts);
  EjectionParams& ejection = p.ejection;
  visit({"ejection.first_step", "share of the peak above the load", 1e-6, 0.5,
         "More: the first ejections take away more of the peak, and fail more often.", kByHand},
        ejection.first_step);
  visit({"ejection.least_step", "share of the peak above the load", 1e-6, 0.5,
         "More: ejections that fail try small steps for less long.", kByHand},
        ejection.least_step);
  visit({"ejection.size_weight", "ejections", 0, 1000,
         "More: the area of a buffer counts more than how often it was ejected.", kByHand},
        ejection.size_weight);
  visit({"ejection.any_share", "share of the picks", 0, 1,
         "More: more picks are any buffer that waits, not the last one.", kByHand},
        ejection.any_share);
  ReinsertionParams& reinsertion = p.reinsertion;
  visit({"reinsertion.buffers", "buffers", 0, 1e9,
         "More: layouts of more buffers are lowered by reinsertion, and core_first runs for them.",
         kByHand},
        reinsertion.buffers);
  visit({"reinsertion.taken", "buffers", 1, 1e6,
         "More: a round takes up to that many buffers out at once.", kByHand},
        reinsertion.taken);
  visit({"reinsertion.threshold", "share of the load", 0, 1,
         "More: the first rounds accept stacks that are higher by more.", kByHand},
        reinsertion.threshold);
  visit({"reinsertion.alike", "ratio to the buffers taken", 1, 1000,
         "More: buffers taken together have less alike lifetimes.", kByHand},
        reinsertion.alike);
  visit({"reinsertion.near", "ratio to the buffers taken", 1, 1000,
         "More: buffers taken together lie farther from each other.", kByHand},
        reinsertion.near);
  visit({"reinsertion.visits", "visits of buffers", 0, 1e12,
         "More: better plans of the method `reinsert`, in proportionally more time.", kByHand},
        reinsertion.visits);
  LoweringParams& lowering = p.lowering;
  visit({"lowering.visits", "visits per buffer", 1, 1e6,
         "More: each turn of ejections goes on for longer.", kByHand},
        lowering.visits);
  visit({"lowering.reinsertions", "ratio to the visits of ejections", 0, 1e6,
         "More: each turn of reinsertions goes on for longer and cools more slowly.", kByHand},
        lowering.reinsertions);
  visit({"lowering.longest", "ratio to the first turn", 4, 1e6,
         "More: turns in vain go on doubling for longer.", kByHand},
        lowering.longest);
  visit({"lowering.in_vain", "rounds", 1, 1000,
         "More: lowering ends later if nothing is gained any more.", kByHand},
        lowering.in_vain);
  visit({"lowering.skipped", "rounds", 0, 1000,
         "More: a kind of work that gains nothing waits for more rounds.", kByHand},
        lowering.skipped);
}

}  // namespace stowage
