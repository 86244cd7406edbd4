// Parameters of the layout heuristics, and constants that are not worth tuning. This header is not
// installed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "instances/layout/planning_table.h"
#include "instances/parameters.h"

namespace stowage {

// Parameters of the heuristic `fast` (registry.h).
struct LayoutFastParams {
  int many = 50'000;
  int rings = 6;
  int fits = 2'000;
};

// Parameters of the dive for the fullest section (construct/dive.h).
struct FullestDiveParams {
  int starts = 512;
};

// Parameters of improve/ejection.h, which forces buffers above a target below it.
struct EjectionParams {
  double first_step = 0.3;
  double least_step = 0.01;
  double size_weight = 64;
  double any_share = 0.25;
};

// Parameters of improve/reinsertion.h, which takes buffers out of the stack and puts them back.
struct ReinsertionParams {
  int buffers = 5'000;
  int taken = 20;
  double threshold = 0.001;
  int alike = 3;
  int near = 2;
  std::int64_t visits = 300'000'000;
};

// Parameters of the rounds of dives, ejections and reinsertions (improve/improvement_rounds.h).
struct LoweringParams {
  std::int64_t visits = 1'000;
  std::int64_t reinsertions = 50;
  std::int64_t longest = 64;
  int in_vain = 12;
  int skipped = 7;
};

// Parameters of improve/window_lowering.h, which lowers the peak of many buffers by windows of
// time.
struct WindowParams {
  std::int64_t visits = 20'000;
};

struct LayoutHeuristicParams {
  LayoutFastParams fast;
  FullestDiveParams dive;
  EjectionParams ejection;
  ReinsertionParams reinsertion;
  LoweringParams lowering;
  WindowParams window;
};

// Constants that bound how far a time limit is overrun, that keep sums within 64 bits, or that a
// published baseline fixes.
namespace layout_fixed {

// visits of buffers between two reads of the clock
inline constexpr std::int64_t kClockVisits = 1 << 18;
// gaps of a ring, or entries of an index, between two reads of the clock
inline constexpr std::int64_t kClockGaps = 1 << 15;
// visited gaps per buffer above which a ring is given up as fragmented
inline constexpr std::int64_t kGapsPerBuffer = 64;
inline constexpr std::int64_t kMaxVisits = 2'000'000'000;  // largest number of visits of one turn
// kMaxWeight is the largest weight of a movable buffer. A million such buffers weigh less than one
// pinned buffer, and all sums stay within 64 bits.
inline constexpr std::int64_t kMaxWeight = std::int64_t{1} << 20;
inline constexpr std::int64_t kPinWeight = std::int64_t{1} << 41;
// largest step of ejections, as a share of the peak above the load
inline constexpr double kLargestStep = 0.5;
inline constexpr std::uint32_t kShares = 1 << 16;  // resolution of random shares
// buffers inside the first window of window_lowering.h; windows in vain have twice as many each
inline constexpr std::ptrdiff_t kWindowBuffers = 100;
// largest length of a turn of such windows, as a ratio to the first
inline constexpr std::int64_t kLongestWindow = 1'024;
inline constexpr int kHillClimbAttempts = 500;  // attempts of usmp-hill-climb, as in TVM
// loss as a share of the peak that is accepted with probability 1/e
inline constexpr double kHillClimbLoss = 0.01;

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
  visit({"window.visits", "visits per buffer", 1, 1e9,
         "More: each window of time is lowered for longer.", kByHand},
        p.window.visits);
}

}  // namespace stowage
